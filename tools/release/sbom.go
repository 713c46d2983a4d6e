package main

import (
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"os"
	"runtime/debug"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// licence is the SPDX id of the licence of the program.
const licence = "Apache-2.0"

// writeSBOM writes the modules that the binary holds, as it records them, and the
// standard library.
func writeSBOM(from source, binary, path string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	digest := sha256.Sum256(content)
	bom := sbom(from, info, hex.EncodeToString(digest[:]))
	return create(path, func(w io.Writer) error {
		return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6)
	})
}

// sbom returns the bill of materials of a binary with the given SHA-256 checksum. It has
// no serial number, which would differ from build to build.
func sbom(from source, info *debug.BuildInfo, digest string) *cdx.BOM {
	bom := cdx.NewBOM()
	main := component(cdx.ComponentTypeApplication, info.Main.Path, from.version)
	main.Name = program
	main.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: digest}}
	main.Licenses = &cdx.Licenses{{License: &cdx.License{ID: licence}}}
	bom.Metadata = &cdx.Metadata{
		Timestamp: from.time.Format(time.RFC3339),
		Component: &main,
		Properties: &[]cdx.Property{
			{Name: program + ":commit", Value: from.commit},
			{Name: program + ":go", Value: info.GoVersion},
			{Name: program + ":platform", Value: setting(info, "GOOS") + "/" + setting(info, "GOARCH")},
		},
	}
	components := []cdx.Component{component(cdx.ComponentTypeLibrary, "stdlib", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, dep := range info.Deps {
		dep = cmp.Or(dep.Replace, dep)
		c := component(cdx.ComponentTypeLibrary, dep.Path, dep.Version)
		c.Hashes = moduleHash(dep.Sum)
		components = append(components, c)
	}
	bom.Components = &components
	var refs []string
	for _, c := range components {
		refs = append(refs, c.BOMRef)
	}
	bom.Dependencies = &[]cdx.Dependency{{Ref: main.BOMRef, Dependencies: &refs}}
	return bom
}

// component returns a component whose reference is its package URL. A package URL of Go
// has lower case, which a module path need not have.
func component(kind cdx.ComponentType, path, version string) cdx.Component {
	purl := fmt.Sprintf("pkg:golang/%s@%s", strings.ToLower(path), url.QueryEscape(version))
	return cdx.Component{BOMRef: purl, Type: kind, Name: path, Version: version, PackageURL: purl}
}

// moduleHash returns the hash of a module as go.sum has it, in the hexadecimal form of
// CycloneDX; nil without one.
func moduleHash(sum string) *[]cdx.Hash {
	encoded, found := strings.CutPrefix(sum, "h1:")
	digest, err := base64.StdEncoding.DecodeString(encoded)
	if !found || err != nil {
		return nil
	}
	return &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(digest)}}
}

func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
