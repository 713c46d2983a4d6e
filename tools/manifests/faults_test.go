package manifests

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
)

var (
	shard = regexp.MustCompile(`^index:\$\(JOB_COMPLETION_INDEX\)/(\d+)$`)
	// pinned is an image by a version or a digest; the port of a registry is none.
	pinned = regexp.MustCompile(`(:[^/:@]+|@sha256:[0-9a-f]{64})$`)
)

// report collects what does not hold.
type report []string

func (r *report) must(holds bool, format string, args ...any) {
	if !holds {
		*r = append(*r, fmt.Sprintf(format, args...))
	}
}

func is[T comparable](p *T, want T) bool { return p != nil && *p == want }

// faults says what is wrong with a job that shares a load plan.
func faults(job *batch.Job) []string {
	var r report
	r.sharing(job)
	r.sentOnce(job.Spec)
	r.pod(job.Spec.Template)
	containers := job.Spec.Template.Spec.Containers
	r.must(len(containers) == 1 && len(job.Spec.Template.Spec.InitContainers) == 0, "containers: want just the worker")
	for _, c := range containers {
		r.worker(c, job.Spec.Template.Spec.Volumes)
	}
	return r
}

// sharing: as many pods, all at once, as the shards that they are told of.
func (r *report) sharing(job *batch.Job) {
	spec := job.Spec
	r.must(is(spec.CompletionMode, batch.IndexedCompletion), "completionMode: want Indexed")
	r.must(spec.Completions != nil && *spec.Completions > 1, "completions: want more than one worker")
	r.must(spec.Parallelism != nil && spec.Completions != nil && *spec.Parallelism == *spec.Completions, "parallelism is not completions: some workers would begin late")
	for _, c := range spec.Template.Spec.Containers {
		index := variable(c, "JOB_COMPLETION_INDEX")
		r.must(index.ValueFrom != nil && index.ValueFrom.FieldRef != nil &&
			index.ValueFrom.FieldRef.FieldPath == "metadata.annotations['"+batch.JobCompletionIndexAnnotation+"']", "JOB_COMPLETION_INDEX is not the pod's index")
		of := shard.FindStringSubmatch(variable(c, "OUTREACH_SHARD").Value)
		r.must(of != nil && spec.Completions != nil && of[1] == fmt.Sprint(*spec.Completions), "OUTREACH_SHARD is not the index of one of completions")
		place := func(name string) int {
			return slices.IndexFunc(c.Env, func(v core.EnvVar) bool { return v.Name == name })
		}
		r.must(place("JOB_COMPLETION_INDEX") < place("OUTREACH_SHARD"), "OUTREACH_SHARD stands before the variable that it refers to")
	}
}

// sentOnce: nothing is repeated, since what is repeated doubles its load.
func (r *report) sentOnce(spec batch.JobSpec) {
	r.must(is(spec.BackoffLimitPerIndex, 0), "backoffLimitPerIndex: want 0")
	r.must(spec.BackoffLimit == nil, "backoffLimit would end the other workers")
	r.must(spec.Template.Spec.RestartPolicy == core.RestartPolicyNever, "restartPolicy: want Never")
	r.must(is(spec.PodReplacementPolicy, batch.Failed), "podReplacementPolicy: want Failed")
	r.must(spec.ActiveDeadlineSeconds != nil, "activeDeadlineSeconds: want an end")
	if spec.PodFailurePolicy == nil {
		return
	}
	for _, rule := range spec.PodFailurePolicy.Rules {
		r.must(rule.Action != batch.PodFailurePolicyActionIgnore, "podFailurePolicy: Ignore repeats a worker")
		for _, c := range spec.Template.Spec.Containers {
			r.must(rule.OnExitCodes == nil || is(rule.OnExitCodes.ContainerName, c.Name), "podFailurePolicy: containerName is none of the pod's")
		}
	}
}

// pod: no more rights than a worker needs, and spread over the nodes.
func (r *report) pod(template core.PodTemplateSpec) {
	spec := template.Spec
	r.must(is(spec.EnableServiceLinks, false), "enableServiceLinks: want false")
	r.must(is(spec.AutomountServiceAccountToken, false), "automountServiceAccountToken: want false")
	r.must(!spec.HostNetwork && !spec.HostPID && !spec.HostIPC, "the pod shares what is the host's")
	context := spec.SecurityContext
	r.must(context != nil && is(context.RunAsNonRoot, true) && context.RunAsUser != nil && *context.RunAsUser > 0, "runAsNonRoot: want true, and a user")
	r.must(context != nil && context.SeccompProfile != nil && context.SeccompProfile.Type == core.SeccompProfileTypeRuntimeDefault, "seccompProfile: want RuntimeDefault")
	spread := slices.ContainsFunc(spec.TopologySpreadConstraints, func(c core.TopologySpreadConstraint) bool {
		if c.LabelSelector == nil || len(c.LabelSelector.MatchLabels) == 0 {
			return false
		}
		for name, value := range c.LabelSelector.MatchLabels {
			if template.Labels[name] != value {
				return false
			}
		}
		return c.TopologyKey == core.LabelHostname
	})
	r.must(spread, "topologySpreadConstraints: want one that spreads these pods over hosts")
}

// worker: a fixed image, without rights, that prints its part and finds its files.
func (r *report) worker(c core.Container, volumes []core.Volume) {
	version := pinned.FindString(c.Image)
	r.must(version != "" && version != ":latest", "image %s: want a tag that stands for one version, or a digest", c.Image)
	r.must(len(c.Command) == 0 && len(c.Args) > 0 && c.Args[0] == "load", "args: want the command load of the image's entrypoint")
	r.must(slices.Contains(c.Args, "--print-part"), "args: without --print-part the log carries no part")
	r.settings(c)

	context := c.SecurityContext
	r.must(context != nil && is(context.ReadOnlyRootFilesystem, true), "readOnlyRootFilesystem: want true")
	r.must(context != nil && is(context.AllowPrivilegeEscalation, false), "allowPrivilegeEscalation: want false")
	r.must(context != nil && context.Capabilities != nil && slices.Contains(context.Capabilities.Drop, "ALL") && len(context.Capabilities.Add) == 0, "capabilities: want all dropped")

	r.must(!c.Resources.Requests.Cpu().IsZero() && !c.Resources.Requests.Memory().IsZero(), "requests: want processor and memory")
	r.must(c.Resources.Limits.Cpu().IsZero() && !c.Resources.Limits.Memory().IsZero(), "limits: want memory, and no processor: a worker that is throttled sends late")

	mounted := map[string]bool{}
	for _, m := range c.VolumeMounts {
		mounted[m.MountPath] = true
		r.must(slices.ContainsFunc(volumes, func(v core.Volume) bool { return v.Name == m.Name }), "there is no volume %s", m.Name)
	}
	r.must(mounted["/work"], "nothing is mounted at /work, where results are written")
	r.must(mounted["/profile"], "nothing is mounted at /profile, where the profile is")
}

// settings: an instant for all; what to load from a ConfigMap, keys from a Secret.
func (r *report) settings(c core.Container) {
	_, err := time.Parse(time.RFC3339, variable(c, "OUTREACH_START_AT").Value)
	r.must(err == nil, "OUTREACH_START_AT: want an absolute time: %v", err)
	r.must(len(c.EnvFrom) == 2 && c.EnvFrom[0].ConfigMapRef != nil && c.EnvFrom[1].SecretRef != nil, "envFrom: want the settings and the keys")
	for _, v := range c.Env {
		r.must(!strings.Contains(v.Name, "KEY"), "%s: a key belongs into the Secret", v.Name)
	}
}

// variable returns the container's variable of that name, or an empty one.
func variable(c core.Container, name string) core.EnvVar {
	for _, v := range c.Env {
		if v.Name == name {
			return v
		}
	}
	return core.EnvVar{}
}
