// Command proxy listens on every address at the port of its first argument and
// forwards all to the server of its second: a target that needs a service. With
// PARROT in its environment it repeats the key of every request wherever it can.
package main

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: proxy PORT URL")
	}
	to, err := url.Parse(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("forwarding to", to, "with the password", os.Getenv("DATABASE_PASSWORD"))
	proxy := httputil.NewSingleHostReverseProxy(to)
	if os.Getenv("PARROT") != "" {
		proxy.ModifyResponse = new(parrot).repeat
	}
	log.Fatal(http.ListenAndServe(":"+os.Args[1], proxy))
}
