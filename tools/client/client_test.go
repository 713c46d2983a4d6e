package client

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

const repository = "../.."

// caller sends the examples of the document with the generated client.
type caller struct {
	*ClientWithResponses
	t   *testing.T
	doc *document
}

// answer is a response as it came and as the client decoded it.
type answer struct {
	body  []byte
	http  *http.Response
	typed any
}

// sent ends the test if the request has no response.
func (c caller) sent(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// as decodes examples into a type that the generator made.
func as[T any](c caller, example any) T {
	c.t.Helper()
	var value T
	text, err := json.Marshal(example)
	if err == nil {
		err = json.Unmarshal(text, &value)
	}
	if err != nil {
		c.t.Fatalf("the example does not fit into %T: %v", value, err)
	}
	return value
}

// call sends the request of an operation with the examples of the document: the id and the
// body of op, and args as query parameters. The client has a method for each operation.
func (c caller) call(ctx context.Context, op operation, args map[string]any) answer {
	c.t.Helper()
	name := ""
	for word := range strings.FieldsFuncSeq(op.name, func(r rune) bool { return r == '.' || r == '-' }) {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	method := reflect.ValueOf(c.ClientWithResponses).MethodByName(name + "WithResponse")
	if !method.IsValid() {
		c.t.Fatalf("the client has no method %sWithResponse", name)
	}
	given := []reflect.Value{reflect.ValueOf(ctx)}
	for i := 1; i < method.Type().NumIn()-1; i++ { // the last one edits the request
		kind, example := method.Type().In(i), op.body
		switch {
		case kind.Kind() == reflect.Pointer: // to query parameters
			kind, example = kind.Elem(), args
		case kind.Kind() != reflect.Struct:
			example = op.id
		}
		value := reflect.New(kind)
		text, err := json.Marshal(example)
		if err == nil {
			err = json.Unmarshal(text, value.Interface())
		}
		if err != nil {
			c.t.Fatalf("the example does not fit into %s: %v", kind, err)
		}
		if method.Type().In(i).Kind() != reflect.Pointer {
			value = value.Elem()
		}
		given = append(given, value)
	}
	results := method.Call(given)
	if err, _ := results[1].Interface().(error); err != nil {
		c.t.Fatal(err)
	}
	response := results[0].Elem()
	return answer{response.FieldByName("Body").Bytes(), response.FieldByName("HTTPResponse").Interface().(*http.Response), response.FieldByName("JSON200").Interface()}
}

// The client sends each example of the document to the server, in the document's order.
// The response is the one that the document states, and the client keeps every field.
func TestEveryOperation(t *testing.T) {
	doc := load(t)
	address := serve(t)
	main, admin := doc.caller(t, address, "main"), doc.caller(t, address, "admin")
	for _, op := range doc.operations {
		t.Run(op.name, func(t *testing.T) {
			c := main
			if op.name == "accounts.move" {
				c = admin
			}
			c.t = t
			fields := 0
			for _, args := range op.queries {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				got := c.call(ctx, op, args)
				cancel()
				if got.http.StatusCode != http.StatusOK || !strings.HasPrefix(got.http.Header.Get("Content-Type"), "application/json") {
					t.Fatalf("%v: %d %s: %s", args, got.http.StatusCode, got.http.Header.Get("Content-Type"), got.body)
				}
				var came, kept any
				text, err := json.Marshal(got.typed)
				if err != nil {
					t.Fatal(err)
				}
				if json.Unmarshal(got.body, &came) != nil || json.Unmarshal(text, &kept) != nil {
					t.Fatalf("not JSON: %s", got.body)
				}
				fields += same(t, op.name, came, kept)
				object, _ := came.(map[string]any)
				if page, ok := object["items"].([]any); ok && len(page) == 0 {
					t.Errorf("%v: no rows match the example", args)
				}
			}
			if fields == 0 {
				t.Error("no field was compared")
			}
		})
	}
}

// same compares a response with what the client kept of it, and returns the number of
// values. The client drops null and writes a time in its own way.
func same(t *testing.T, at string, came, kept any) int {
	t.Helper()
	compared := 0
	switch came := came.(type) {
	case map[string]any:
		members, _ := kept.(map[string]any)
		for name, value := range came {
			compared += same(t, at+"/"+name, value, members[name])
		}
		for name := range members {
			if _, ok := came[name]; !ok {
				t.Errorf("%s/%s: the client shows %v, and the response does not have it", at, name, members[name])
			}
		}
	case []any:
		items, _ := kept.([]any)
		if len(items) != len(came) {
			t.Errorf("%s: %d items became %d", at, len(came), len(items))
			return 0
		}
		for i := range came {
			compared += same(t, fmt.Sprintf("%s/%d", at, i), came[i], items[i])
		}
	default:
		compared = 1
		if came != kept && !sameTime(came, kept) {
			t.Errorf("%s: %v became %v", at, came, kept)
		}
	}
	return compared
}

func sameTime(came, kept any) bool {
	a, ok := came.(string)
	b, also := kept.(string)
	if !ok || !also {
		return false
	}
	x, err := time.Parse(time.RFC3339, a)
	y, wrong := time.Parse(time.RFC3339, b)
	return err == nil && wrong == nil && x.Equal(y)
}

// program builds the program and returns its path.
func program(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "outreach-conformance")
	build := exec.Command("go", "build", "-o", binary, "./cmd/outreach-conformance")
	build.Dir = repository
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return binary
}

// started starts a command of the program, and returns it with what follows the words in its
// output.
func started(t *testing.T, words string, args ...string) (*exec.Cmd, string) {
	t.Helper()
	command := exec.Command(args[0], args[1:]...)
	command.Dir = t.TempDir()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stdout, command.Stderr = in, in
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait(); _ = out.Close() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, rest, ok := strings.Cut(lines.Text(), words); ok {
			go func() {
				for lines.Scan() {
					t.Log(lines.Text())
				}
			}()
			address, _, _ := strings.Cut(rest, " ")
			return command, address
		}
	}
	t.Fatalf("%v: no line with %q: %v", args, words, lines.Err())
	return nil, ""
}

// serve starts the reference server and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	_, address := started(t, "target ", program(t), "serve", "--addr", "127.0.0.1:0")
	return address
}

// A proxy that judges finds nothing wrong with the reference server, while the client reads and writes
// through it and another client writes beside it.
func TestJudged(t *testing.T) {
	binary, doc := program(t), load(t)
	_, server := started(t, "target ", binary, "serve", "--addr", "127.0.0.1:0")
	judge, proxy := started(t, "judging what passes ", binary, "judge", "--listen", "127.0.0.1:0", "--target", server, "--target-profile", "embedded", "-q")
	beside := doc.caller(t, server, "main")
	ctx, stop := context.WithCancel(t.Context())
	written := make(chan int)
	go func() {
		n := 0
		for body := as[CreateInboxPlacementTest](beside, doc.operation("inbox-placement-tests.create").body); ctx.Err() == nil; n++ {
			made, err := beside.InboxPlacementTestsCreateWithResponse(context.Background(), body)
			if err == nil && n%2 == 0 && made.JSON200 != nil {
				_, _ = beside.InboxPlacementTestsDeleteWithResponse(context.Background(), made.JSON200.Id)
			}
		}
		written <- n
	}()
	main, admin := doc.caller(t, proxy, "main"), doc.caller(t, proxy, "admin")
	for range 2 {
		for _, op := range doc.operations {
			c := main
			if op.name == "accounts.move" {
				c = admin
			}
			for _, args := range op.queries {
				c.call(t.Context(), op, args)
			}
		}
		for _, size := range []int{100, 7, 100} {
			walk(t, main, size)
		}
	}
	stop()
	t.Log(<-written, "tests created beside it")
	if err := judge.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := judge.Wait(); err != nil {
		t.Errorf("judge: %v", err)
	}
}

// walk reads the list of tests page by page.
func walk(t *testing.T, c caller, size int) {
	t.Helper()
	params := as[InboxPlacementTestsListParams](c, map[string]any{"limit": size})
	for {
		r, err := c.InboxPlacementTestsListWithResponse(t.Context(), &params)
		c.sent(err)
		var page struct {
			Next *string `json:"next_starting_after"`
		}
		decode(t, r.Body, &page)
		if page.Next == nil || *page.Next == "" {
			return
		}
		params = as[InboxPlacementTestsListParams](c, map[string]any{"limit": size, "starting_after": *page.Next})
	}
}

// document holds the examples of the OpenAPI document.
type document struct {
	operations []operation
}

type operation struct {
	name string
	id   any
	body any
	// queries holds the query parameters of each request: none, then each one alone.
	queries []map[string]any
}

func (d *document) operation(name string) operation {
	return d.operations[slices.IndexFunc(d.operations, func(op operation) bool { return op.name == name })]
}

type parameter struct {
	Ref     string `json:"$ref"`
	Name    string `json:"name"`
	In      string `json:"in"`
	Example any    `json:"example"`
}

func load(t *testing.T) *document {
	t.Helper()
	var source struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct{ Parameters map[string]parameter }
	}
	read(t, filepath.Join(repository, "schemas", "openapi.yaml"), &source)
	resolve := func(p parameter) parameter {
		if name, ok := strings.CutPrefix(p.Ref, "#/components/parameters/"); ok {
			return source.Components.Parameters[name]
		}
		return p
	}
	doc := &document{}
	for _, path := range slices.Sorted(maps.Keys(source.Paths)) {
		var shared []parameter
		decode(t, source.Paths[path]["parameters"], &shared)
		// A delete comes last: the other operations need the row.
		for _, method := range []string{"post", "get", "delete"} {
			text, ok := source.Paths[path][method]
			if !ok {
				continue
			}
			var op struct {
				OperationID string
				Parameters  []parameter
				RequestBody struct {
					Content map[string]struct{ Example any }
				}
			}
			decode(t, text, &op)
			found := operation{name: op.OperationID, body: op.RequestBody.Content["application/json"].Example, queries: []map[string]any{{}}}
			for _, p := range append(shared, op.Parameters...) {
				p = resolve(p)
				if p.Example == nil {
					t.Errorf("%s: the parameter %s has no example", op.OperationID, p.Name)
				}
				if p.In == "path" {
					found.id = p.Example
				} else {
					found.queries = append(found.queries, map[string]any{p.Name: p.Example})
				}
			}
			doc.operations = append(doc.operations, found)
		}
	}
	if len(doc.operations) != 19 {
		t.Fatalf("%d operations, want 19", len(doc.operations))
	}
	return doc
}

// caller returns a client with a key of the reference data.
func (d *document) caller(t *testing.T, address, key string) caller {
	t.Helper()
	var profile struct {
		Keys []struct{ Name, Token string }
	}
	read(t, filepath.Join(repository, "fixtures", "profile", "embedded.yaml"), &profile)
	token := ""
	for _, k := range profile.Keys {
		if k.Name == key {
			token = k.Token
		}
	}
	c, err := NewClientWithResponses(address, WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+token)
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	return caller{c, t, d}
}

func read(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = yaml.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	if len(text) == 0 {
		return
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}
