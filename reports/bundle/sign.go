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

	testresult "github.com/in-toto/attestation/go/predicates/test_result/v0"
	intoto "github.com/in-toto/attestation/go/v1"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

const (
	payloadType   = "application/vnd.in-toto+json"
	predicateType = "https://in-toto.io/attestation/test-result/v0.1"
	// extension is the member of the predicate that holds ours. The specification of in-toto lets a
	// predicate have such members, and consumers ignore them.
	extension = "outreachConformance"

	newKey = "make one with openssl genpkey -algorithm ed25519 -out key.pem"
)

// PrivateKey returns the ed25519 key in a PEM file (PKCS #8), as openssl genpkey writes it.
func PrivateKey(text []byte) (ed25519.PrivateKey, error) {
	block, err := blockOf(text)
	if err != nil {
		return nil, err
	}
	if block.Type == "PUBLIC KEY" {
		return nil, errors.New("key: a public key (want the private key)")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if private, ok := key.(ed25519.PrivateKey); ok {
		return private, nil
	}
	return nil, notEd25519(block.Type, err)
}

// PublicKey returns the ed25519 key in a PEM file, as openssl pkey -pubout writes it.
func PublicKey(text []byte) (ed25519.PublicKey, error) {
	block, err := blockOf(text)
	if err != nil {
		return nil, err
	}
	if block.Type == "PRIVATE KEY" {
		return nil, errors.New("key: a private key (want the public key: openssl pkey -in key.pem -pubout)")
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if public, ok := key.(ed25519.PublicKey); ok {
		return public, nil
	}
	return nil, notEd25519(block.Type, err)
}

func blockOf(text []byte) (*pem.Block, error) {
	block, _ := pem.Decode(text)
	switch {
	case block == nil:
		return nil, errors.New("key: no PEM file (" + newKey + ")")
	case block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "":
		return nil, errors.New("key: encrypted (decrypt it with openssl pkey -in key.pem -out plain.pem)")
	}
	return block, nil
}

// notEd25519 never has the cause of a failed parse: it may quote the key.
func notEd25519(kind string, err error) error {
	if err != nil {
		return fmt.Errorf("key: cannot read a PEM block %.40q (want ed25519; %s)", kind, newKey)
	}
	return fmt.Errorf("key: of another algorithm (want ed25519; %s)", newKey)
}

// KeyID returns the fingerprint of the key, as ssh-keygen -l prints it.
func KeyID(key ed25519.PublicKey) string {
	id, _ := dsse.SHA256KeyID(key) // an ed25519 key has one
	return id
}

// statement returns what a signature says of the manifest: the result of the tests, for consumers of
// in-toto, and in a member of our own what that predicate has no words for.
func (m Manifest) statement() (*intoto.Statement, error) {
	body, err := m.Encode()
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(body)
	result := &testresult.TestResult{Result: m.result(), PassedTests: m.Tests.Passed, WarnedTests: m.Tests.Warned, FailedTests: m.Tests.Failed}
	for _, c := range []struct{ name, digest string }{{"catalogue", m.Catalogue}, {"openapi.yaml", m.OpenAPI}, {ProfileFile, m.Files[ProfileFile].SHA256}} {
		result.Configuration = append(result.Configuration, &intoto.ResourceDescriptor{Name: c.name, Digest: map[string]string{"sha256": c.digest}})
	}
	predicate, err := protojson.Marshal(result)
	if err != nil {
		return nil, err
	}
	own, err := json.Marshal(map[string]any{
		"certificate": m.Certificate, "level": m.Level, "implementation": m.Implementation, "nonce": m.Nonce,
		"created": m.Created, "expires": m.Expires, "notAssessedTests": m.Tests.NotAssessed,
	})
	if err != nil {
		return nil, err
	}
	fields, beside := &structpb.Struct{}, &structpb.Struct{}
	if err := errors.Join(protojson.Unmarshal(predicate, fields), protojson.Unmarshal(own, beside)); err != nil {
		return nil, err
	}
	fields.Fields[extension] = structpb.NewStructValue(beside)
	s := &intoto.Statement{
		Type:          intoto.StatementTypeUri,
		Subject:       []*intoto.ResourceDescriptor{{Name: ManifestFile, Digest: map[string]string{"sha256": hex.EncodeToString(digest[:])}}},
		PredicateType: predicateType, Predicate: fields,
	}
	return s, s.Validate()
}

// result returns the result in the words of the predicate. It has none for inconclusive, which must
// not count as a pass.
func (m Manifest) result() string {
	for _, r := range m.Runs {
		if r.Verdict != "pass" {
			return "FAILED"
		}
	}
	switch t := m.Tests; {
	case len(t.Failed) > 0:
		return "FAILED"
	case len(t.Warned)+len(t.NotAssessed) > 0:
		return "WARNED"
	}
	return "PASSED"
}

// Sign returns a DSSE envelope with the statement about the manifest.
func Sign(m Manifest, key ed25519.PrivateKey) ([]byte, error) {
	statement, err := m.statement()
	if err != nil {
		return nil, err
	}
	spaced, err := protojson.Marshal(statement)
	if err != nil {
		return nil, err
	}
	var payload bytes.Buffer // without the blanks, which protojson sets at random
	if err := json.Compact(&payload, spaced); err != nil {
		return nil, err
	}
	signature := ed25519.Sign(key, dsse.PAE(payloadType, payload.Bytes()))
	return json.Marshal(dsse.Envelope{
		PayloadType: payloadType,
		Payload:     base64.StdEncoding.EncodeToString(payload.Bytes()),
		Signatures:  []dsse.Signature{{KeyID: KeyID(key.Public().(ed25519.PublicKey)), Sig: base64.StdEncoding.EncodeToString(signature)}},
	})
}

// signedBy reports whether the key made a signature of the envelope. It does not go by the id that
// the envelope gives for the key: anybody can write one.
func signedBy(e dsse.Envelope, payload []byte, key ed25519.PublicKey) bool {
	for _, s := range e.Signatures {
		if signature, err := base64.StdEncoding.DecodeString(s.Sig); err == nil && ed25519.Verify(key, dsse.PAE(e.PayloadType, payload), signature) {
			return true
		}
	}
	return false
}

// agrees returns an error unless the payload is the statement about the manifest.
func (m Manifest) agrees(payload []byte) error {
	var found intoto.Statement
	if protojson.Unmarshal(payload, &found) != nil || found.Validate() != nil {
		return errors.New("the payload is not an in-toto statement")
	}
	want, err := m.statement()
	if err != nil {
		return err
	}
	switch {
	case found.Subject[0].Digest["sha256"] != want.Subject[0].Digest["sha256"]:
		return errors.New("the statement is about another manifest")
	case !proto.Equal(&found, want):
		return errors.New("the statement contradicts the manifest")
	}
	return nil
}
