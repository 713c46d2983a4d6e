// Package manifests makes sure that Kubernetes would take the manifests of
// loadtest/kubernetes for what they are meant to be. It holds tests only.
//
// It is in the module tools, and imports nothing of the program's: the API types
// of Kubernetes stay out of the module that users build.
package manifests

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
)

const folder = "../../loadtest/kubernetes"

// decoder reads documents as an API server does that is asked to be strict:
// unknown, misspelt and doubled fields are errors.
var decoder = func() runtime.Decoder {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{batch.AddToScheme, core.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	return serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
}()

// decode reads all documents of a file.
func decode(text []byte) (objects []runtime.Object, err error) {
	documents := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(text)))
	defer documents.Close()
	buffer := make([]byte, len(text)+1)
	for i := 1; ; i++ {
		n, err := documents.Read(buffer)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", i, err)
		}
		object, _, err := decoder.Decode(buffer[:n], nil, nil)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", i, err)
		}
		objects = append(objects, object)
	}
}

// manifests returns what the files of the folder hold, by file.
func manifests(t *testing.T) map[string][]runtime.Object {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no manifests in %s: %v", folder, err)
	}
	all := map[string][]runtime.Object{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		objects, err := decode(text)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if len(objects) == 0 {
			t.Fatalf("%s holds nothing", path)
		}
		all[filepath.Base(path)] = objects
	}
	return all
}

func TestManifestsAreRight(t *testing.T) {
	for file, objects := range manifests(t) {
		for _, object := range objects {
			job, ok := object.(*batch.Job)
			if !ok {
				t.Fatalf("%s: a %T: say here what must hold for it", file, object)
			}
			for _, fault := range faults(job) {
				t.Errorf("%s: %s", file, fault)
			}
		}
	}
}

// What makes a manifest wrong is found.
func TestFaultsAreFound(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(folder, "job.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{"completions: 4", "completion: 4", `unknown field "spec.completion"`},
		{"completions: 4", "Completions: 4", `unknown field "spec.Completions"`},
		{"completions: 4 ", "completions: 4\n  completions: 4 ", `key "completions" already set`},
		{"restartPolicy: Never", "restartPolicy: [Never]", "cannot unmarshal"},
		{"kind: Job", "kind: Jobs", `no kind "Jobs"`},
		{"completionMode: Indexed", "completionMode: NonIndexed", "completionMode"},
		{"completions: 4", "completions: 5", "completions"},
		{"parallelism: 4", "parallelism: 2", "parallelism"},
		{")/4", ")/8", "OUTREACH_SHARD"},
		{"index:$(", "$(", "OUTREACH_SHARD"},
		{"['batch.kubernetes.io/job-completion-index']", "['index']", "JOB_COMPLETION_INDEX"},
		{"  backoffLimitPerIndex: 0\n", "", "backoffLimitPerIndex"},
		{"backoffLimitPerIndex: 0", "backoffLimitPerIndex: 1", "backoffLimitPerIndex"},
		{"action: FailJob", "action: Ignore", "Ignore"},
		{"containerName: load", "containerName: other", "containerName"},
		{"restartPolicy: Never", "restartPolicy: OnFailure", "restartPolicy"},
		{"podReplacementPolicy: Failed", "podReplacementPolicy: TerminatingOrFailed", "podReplacementPolicy"},
		{"  activeDeadlineSeconds: 1800", "  #", "activeDeadlineSeconds"},
		{"enableServiceLinks: false", "enableServiceLinks: true", "enableServiceLinks"},
		{"automountServiceAccountToken: false", "automountServiceAccountToken: true", "automountServiceAccountToken"},
		{"conformance:1.0.0", "conformance:latest", "tag"},
		{"conformance:1.0.0", "conformance", "tag"},
		{"registry.example/", "registry.example:5000/", ""},
		{"conformance:1.0.0", "conformance@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", ""},
		{"2026-01-31T12:00:00Z", "+5s", "OUTREACH_START_AT"},
		{"- secretRef", "- configMapRef", "envFrom"},
		{"- name: OUTREACH_START_AT", "- name: OUTREACH_KEY_MAIN\n              value: x\n            - name: OUTREACH_START_AT", "belongs into the Secret"},
		{"- --print-part", "- --output=/work", "--print-part"},
		{"runAsNonRoot: true", "runAsNonRoot: false", "runAsNonRoot"},
		{"readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false", "readOnlyRootFilesystem"},
		{"allowPrivilegeEscalation: false", "allowPrivilegeEscalation: true", "allowPrivilegeEscalation"},
		{"drop: [ALL]", "drop: [NET_RAW]", "capabilities"},
		{"memory: 512Mi #", "cpu: 1 #", "limits"},
		{"cpu: \"1\"", "ephemeral-storage: 1Gi", "requests"},
		{"mountPath: /profile", "mountPath: /elsewhere", "/profile"},
		{"        - name: work\n          emptyDir", "        - name: other\n          emptyDir", "volume work"},
		{"topologyKey: kubernetes.io/hostname", "topologyKey: topology.kubernetes.io/zone", "topologySpreadConstraints"},
		{"            matchLabels:\n              app.kubernetes.io/name: outreach-load", "            matchLabels:\n              app.kubernetes.io/name: other", "topologySpreadConstraints"},
	} {
		t.Run(c.to, func(t *testing.T) {
			if strings.Count(string(text), c.from) == 0 {
				t.Fatalf("job.yaml has no %q", c.from)
			}
			var found []string
			objects, err := decode([]byte(strings.Replace(string(text), c.from, c.to, 1)))
			if err != nil {
				found = append(found, err.Error())
			}
			for _, object := range objects {
				found = append(found, faults(object.(*batch.Job))...)
			}
			if c.want == "" && len(found) > 0 {
				t.Errorf("this is right, but: %q", found)
			}
			if c.want != "" && !strings.Contains(strings.Join(found, "\n"), c.want) {
				t.Errorf("want %q in what is found: %q", c.want, found)
			}
		})
	}
}
