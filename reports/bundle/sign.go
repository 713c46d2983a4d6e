package bundle

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	intoto "github.com/in-toto/attestation/go/v1"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
)

const payloadType = "application/vnd.in-toto+json"

// PrivateKey returns the ed25519 key in a PEM file (PKCS #8), as openssl writes it.
func PrivateKey(text []byte) (ed25519.PrivateKey, error) {
	return keyIn[ed25519.PrivateKey](text, "openssl genpkey -algorithm ed25519 -out key.pem makes a key", x509.ParsePKCS8PrivateKey)
}

// PublicKey returns the ed25519 key in a PEM file, as openssl writes it.
func PublicKey(text []byte) (ed25519.PublicKey, error) {
	return keyIn[ed25519.PublicKey](text, "openssl pkey -in key.pem -pubout writes the public key", x509.ParsePKIXPublicKey)
}

// keyIn returns the key of the kind. Its errors leave out the cause, which may quote the key.
func keyIn[K any](text []byte, hint string, parse func([]byte) (any, error)) (key K, err error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return key, fmt.Errorf("key: not in PEM (%s)", hint)
	}
	parsed, err := parse(block.Bytes)
	key, ok := parsed.(K)
	switch {
	case ok:
		return key, nil
	case strings.HasPrefix(block.Type, "ENCRYPTED") || block.Headers["DEK-Info"] != "":
		return key, errors.New("key: encrypted (openssl pkey -in key.pem -out plain.pem decrypts it)")
	case err == nil:
		return key, fmt.Errorf("key: of another algorithm than ed25519 (%s)", hint)
	}
	return key, fmt.Errorf("key: a PEM block of type %.40q (%s)", block.Type, hint)
}

// KeyID returns the fingerprint of the key, as ssh-keygen -l prints it.
func KeyID(key ed25519.PublicKey) string {
	id, _ := dsse.SHA256KeyID(key) // an ed25519 key has one
	return id
}

// statement returns what a signature says of the manifest: the result of the tests for consumers of
// in-toto and, in a member of our own, what that predicate has no words for.
func (m Manifest) statement() ([]byte, error) {
	body, err := m.Encode()
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(body)
	predicate, err := structpb.NewStruct(map[string]any{
		"result": m.result(),
		"configuration": []any{descriptor("catalogue", m.Catalogue), descriptor("openapi.yaml", m.OpenAPI),
			descriptor(ProfileFile, m.Files[ProfileFile].SHA256)},
		"passedTests": values(m.Tests.Passed), "warnedTests": values(m.Tests.Warned), "failedTests": values(m.Tests.Failed),
		// The specification of in-toto allows such a member. Consumers ignore those that they do not know.
		"outreachConformance": map[string]any{
			"certificate": m.Certificate, "level": m.Level, "implementation": map[string]any{
				"name": m.Implementation.Name, "version": m.Implementation.Version, "vendor": m.Implementation.Vendor},
			"nonce": m.Nonce, "created": m.Created.Format(time.RFC3339Nano), "expires": m.Expires.Format(time.RFC3339Nano),
			"notAssessedTests": values(m.Tests.NotAssessed),
		},
	})
	if err != nil {
		return nil, err
	}
	text, err := protojson.Marshal(&intoto.Statement{
		Type:          intoto.StatementTypeUri,
		Subject:       []*intoto.ResourceDescriptor{{Name: ManifestFile, Digest: map[string]string{"sha256": hex.EncodeToString(digest[:])}}},
		PredicateType: "https://in-toto.io/attestation/test-result/v0.1",
		Predicate:     predicate,
	})
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer // the library varies the spaces
	err = json.Compact(&compact, text)
	return compact.Bytes(), err
}

// descriptor is a resource descriptor of a predicate.
func descriptor(name, sha256 string) map[string]any {
	return map[string]any{"name": name, "digest": map[string]any{"sha256": sha256}}
}

func values(texts []string) []any {
	all := []any{} // [], not null
	for _, text := range texts {
		all = append(all, text)
	}
	return all
}

// result returns the result in the words of the predicate. It has none for inconclusive, which must
// not count as a pass.
func (m Manifest) result() string {
	switch t := m.Tests; {
	case len(t.Failed) > 0 || slices.ContainsFunc(m.Runs, func(r Run) bool { return r.Verdict != "pass" }):
		return "FAILED"
	case len(t.Warned)+len(t.NotAssessed) > 0:
		return "WARNED"
	}
	return "PASSED"
}

// Sign returns a DSSE envelope with the statement about the manifest.
func Sign(m Manifest, key ed25519.PrivateKey) ([]byte, error) {
	payload, err := m.statement()
	if err != nil {
		return nil, err
	}
	return json.Marshal(dsse.Envelope{
		PayloadType: payloadType,
		Payload:     base64.StdEncoding.EncodeToString(payload),
		Signatures: []dsse.Signature{{
			KeyID: KeyID(key.Public().(ed25519.PublicKey)),
			Sig:   base64.StdEncoding.EncodeToString(ed25519.Sign(key, dsse.PAE(payloadType, payload))),
		}},
	})
}

// signedBy reports whether the key made a signature of the envelope, whatever id the envelope gives
// for the key.
func signedBy(e dsse.Envelope, payload []byte, key ed25519.PublicKey) bool {
	signed := dsse.PAE(e.PayloadType, payload)
	return slices.ContainsFunc(e.Signatures, func(s dsse.Signature) bool {
		signature, _ := base64.StdEncoding.DecodeString(s.Sig)
		return ed25519.Verify(key, signed, signature)
	})
}

// agrees returns an error unless the payload is the statement about the manifest, in the form that
// this program writes.
func (m Manifest) agrees(payload []byte) error {
	own, err := m.statement()
	if err != nil {
		return err
	}
	var found, want intoto.Statement
	if protojson.Unmarshal(payload, &found) != nil || found.Validate() != nil {
		return errors.New("the payload is not an in-toto statement")
	}
	if err := protojson.Unmarshal(own, &want); err != nil {
		return err
	}
	var compact bytes.Buffer
	_ = json.Compact(&compact, payload) // it was decoded
	switch {
	case found.Subject[0].Digest["sha256"] != want.Subject[0].Digest["sha256"]:
		return errors.New("the statement is about another manifest")
	case !bytes.Equal(compact.Bytes(), own):
		return errors.New("the statement contradicts the manifest")
	}
	return nil
}
