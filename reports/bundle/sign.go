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

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

const payloadType = "application/vnd.in-toto+json"

// statementType is the type of an in-toto statement. The library of in-toto would bring protobuf along: 1.8 MB.
const statementType = "https://in-toto.io/Statement/v1"

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
	descriptor := func(name, sha256 string) map[string]any {
		return map[string]any{"name": name, "digest": map[string]string{"sha256": sha256}}
	}
	names := func(list []string) []string { return append([]string{}, list...) } // [], not null
	digest := sha256.Sum256(body)
	return json.Marshal(map[string]any{
		"_type":         statementType,
		"subject":       []any{descriptor(ManifestFile, hex.EncodeToString(digest[:]))},
		"predicateType": "https://in-toto.io/attestation/test-result/v0.1",
		"predicate": map[string]any{
			"result":        m.result(),
			"configuration": []any{descriptor("catalogue", m.Catalogue), descriptor("openapi.yaml", m.OpenAPI), descriptor(ProfileFile, m.Files[ProfileFile].SHA256)},
			"passedTests":   names(m.Tests.Passed), "warnedTests": names(m.Tests.Warned), "failedTests": names(m.Tests.Failed),
			// The specification of in-toto allows such a member. Consumers ignore those that they do not know.
			"outreachConformance": map[string]any{
				"certificate": m.Certificate, "level": m.Level, "implementation": m.Implementation, "nonce": m.Nonce,
				"created": m.Created, "expires": m.Expires, "notAssessedTests": names(m.Tests.NotAssessed),
			},
		},
	})
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
	type statement struct {
		Type    string `json:"_type"`
		Subject []struct{ Digest map[string]string }
	}
	var found, want statement
	if json.Unmarshal(payload, &found) != nil || found.Type != statementType || len(found.Subject) == 0 {
		return errors.New("the payload is not an in-toto statement")
	}
	if err := json.Unmarshal(own, &want); err != nil {
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
