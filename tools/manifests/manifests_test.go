// Package manifests makes sure that Kubernetes would take the manifests of
// loadtest/kubernetes for what they are meant to be. It holds tests only.
//
// It is in the module tools, and imports nothing of the program's: the API types
// of Kubernetes stay out of the module that users build.
package manifests

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// job reads the manifest as an API server does that is asked to be strict: unknown,
// misspelt and repeated fields are errors.
func job(t *testing.T) *batch.Job {
	t.Helper()
	text, err := os.ReadFile("../../loadtest/kubernetes/job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n---")); n > 1 {
		t.Fatalf("%d documents, want the job alone", n)
	}
	scheme := runtime.NewScheme()
	if err := batch.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	object, _, err := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer().Decode(text, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return object.(*batch.Job)
}

// The pods of the job share one load plan: all begin at once, each sends its part once, and
// prints it.
func TestTheJobSharesOnePlan(t *testing.T) {
	spec := job(t).Spec
	pod := spec.Template.Spec
	must := func(holds bool, what string) {
		t.Helper()
		if !holds {
			t.Error(what)
		}
	}
	if spec.Completions == nil || spec.CompletionMode == nil || len(pod.Containers) != 1 {
		t.Fatal("want an indexed job of one container")
	}
	worker := pod.Containers[0]
	place := func(name string) int {
		return slices.IndexFunc(worker.Env, func(v core.EnvVar) bool { return v.Name == name })
	}
	index, shard := place("JOB_COMPLETION_INDEX"), place("OUTREACH_SHARD")
	must(*spec.CompletionMode == batch.IndexedCompletion && *spec.Completions > 1, "completionMode: want Indexed, and several workers")
	must(spec.Parallelism != nil && *spec.Parallelism == *spec.Completions, "parallelism is not completions: some workers would begin late")
	must(index >= 0 && index < shard, "OUTREACH_SHARD refers to JOB_COMPLETION_INDEX, which must stand before it")
	must(worker.Env[shard].Value == fmt.Sprintf("index:$(JOB_COMPLETION_INDEX)/%d", *spec.Completions), "OUTREACH_SHARD is not the index of one of completions")
	must(worker.Env[index].ValueFrom.FieldRef.FieldPath == "metadata.annotations['"+batch.JobCompletionIndexAnnotation+"']", "JOB_COMPLETION_INDEX is not the pod's index")
	must(place("OUTREACH_START_AT") >= 0, "OUTREACH_START_AT: want an instant for all")

	must(spec.BackoffLimitPerIndex != nil && *spec.BackoffLimitPerIndex == 0 && spec.BackoffLimit == nil, "backoffLimitPerIndex: want 0, since a repetition doubles the load")
	must(pod.RestartPolicy == core.RestartPolicyNever, "restartPolicy: want Never")

	must(len(worker.Args) > 0 && worker.Args[0] == "load" && slices.Contains(worker.Args, "--print-part"), "args: want load --print-part")
	for _, mount := range worker.VolumeMounts {
		must(slices.ContainsFunc(pod.Volumes, func(v core.Volume) bool { return v.Name == mount.Name }), "there is no volume "+mount.Name)
	}
	for _, v := range worker.Env {
		must(!strings.Contains(v.Name, "KEY"), v.Name+": a key belongs into the Secret")
	}
}
