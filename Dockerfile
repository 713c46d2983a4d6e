# Image of the reference server, and of the whole command. It holds a static
# binary and nothing else:
#
#   CGO_ENABLED=0 go build -trimpath -o bin/ ./cmd/outreach-conformance
#   docker build -t outreach-conformance .
#   docker run --rm -p 127.0.0.1:8025:8025 outreach-conformance
#
# GET /healthz on port 8025 answers 200 when the server is ready.
FROM scratch
COPY bin/outreach-conformance /outreach-conformance
USER 65532:65532
EXPOSE 8025
ENTRYPOINT ["/outreach-conformance"]
CMD ["serve", "--addr", "0.0.0.0:8025"]
