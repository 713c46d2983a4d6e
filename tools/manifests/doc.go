// Package manifests makes sure that Kubernetes would take the manifests of
// loadtest/kubernetes for what they are meant to be. It holds tests only.
//
// It is in the module tools, and imports nothing of the program's: the API types
// of Kubernetes stay out of the module that users build.
package manifests
