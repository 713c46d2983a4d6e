# Image of the whole command: the reference server without arguments, and any
# command with some. It holds a static binary and nothing else, so that it can
# be built without a registry:
#
#   CGO_ENABLED=0 go build -trimpath -o bin/ ./cmd/outreach-conformance
#   docker build -t outreach-conformance .
#   docker run --rm -p 127.0.0.1:8025:8025 outreach-conformance
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/work" outreach-conformance run
#
# It knows no authorities. For a server with TLS, mount those of the machine, with
# -v /etc/ssl/certs:/etc/ssl/certs:ro, or name one with tls.ca_file in the profile.
#
# GET /healthz on port 8025 answers 200 when the server is ready. Commands that
# write files do so in /work, which therefore needs a mount.
FROM scratch
COPY bin/outreach-conformance /outreach-conformance
USER 65532:65532
WORKDIR /work
EXPOSE 8025
ENTRYPOINT ["/outreach-conformance"]
CMD ["serve", "--addr", "0.0.0.0:8025"]
