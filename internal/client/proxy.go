package client

import (
	"errors"
	"net"
	"net/http"
	"net/url"
)

// ProxyError is the operation of the net.OpError of a proxy that cannot be used, as net/http
// calls it.
const ProxyError = "proxyconnect"

// Proxy is http.ProxyFromEnvironment, but its error does not quote the address, which may
// hold a password.
func Proxy(r *http.Request) (*url.URL, error) {
	proxy, err := http.ProxyFromEnvironment(r)
	if err != nil {
		return nil, &net.OpError{Op: ProxyError, Net: "tcp", Err: errors.New("malformed address (write it like http://host:3128)")}
	}
	return proxy, nil
}
