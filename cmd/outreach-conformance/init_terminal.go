package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// typed returns what is typed at the terminal, without the space around it.
// When the context ends, the terminal becomes what it was; the read itself
// cannot be broken off, and is left behind.
func typed(ctx context.Context, terminal *os.File, read func(*os.File) (string, error)) (string, error) {
	before, err := term.GetState(int(terminal.Fd()))
	if err != nil {
		return "", err
	}
	type input struct {
		text string
		err  error
	}
	came := make(chan input, 1)
	go func() {
		text, err := read(terminal)
		if errors.Is(err, io.EOF) { // which ends a line as well
			err = nil
		}
		came <- input{strings.TrimSpace(text), err}
	}()
	select {
	case in := <-came:
		return in.text, in.err
	case <-ctx.Done():
		return "", errors.Join(ctx.Err(), term.Restore(int(terminal.Fd()), before))
	}
}

// readLine reads a line; a terminal hands over no more at once.
func readLine(terminal *os.File) (string, error) { return bufio.NewReader(terminal).ReadString('\n') }

// readHidden reads a line that is not shown.
func readHidden(terminal *os.File) (string, error) {
	line, err := term.ReadPassword(int(terminal.Fd()))
	return string(line), err
}

// notAnswered ends the command when a question was not answered.
func notAnswered(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return interrupted
	}
	return exitError{exitUsage, err}
}
