// Program peer is gomemcache for the tests: `peer PLACEMENT NODE=WEIGHT...`, see ../../README.md.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/bradfitz/gomemcache/memcache"
)

// values are those that `put` stores, by name, as bytes: it stores nothing else.
func values() map[string][]byte {
	visitor := struct {
		Name   string `json:"name"`
		Visits []int  `json:"visits"`
	}{"Ada", []int{1, 2, 3}}
	text, err := json.Marshal(visitor)
	if err != nil {
		panic(err)
	}
	return map[string][]byte{
		"text":       []byte("grüß dich 日本"),
		"integer":    []byte("70000"),
		"json":       text,
		"long-text":  []byte(strings.Repeat("abcdef", 1000)),
		"long-bytes": make([]byte, 5000),
	}
}

func main() {
	if len(os.Args) < 3 || os.Args[1] != "gomemcache" {
		fmt.Fprintln(os.Stderr, "usage: peer gomemcache NODE=WEIGHT...")
		os.Exit(2)
	}
	var servers []string
	for _, node := range os.Args[2:] {
		name, _, _ := strings.Cut(node, "=")
		servers = append(servers, name)
	}
	client := memcache.New(servers...)
	questions := bufio.NewScanner(os.Stdin)
	for questions.Scan() {
		answer, err := ask(client, strings.Fields(questions.Text()))
		if err != nil {
			answer = fmt.Sprintf("error %v", err)
		}
		fmt.Println(answer)
	}
}

func ask(client *memcache.Client, question []string) (string, error) {
	if len(question) < 2 {
		return "", errors.New("no key")
	}
	bytes, err := hex.DecodeString(question[1])
	if err != nil {
		return "", err
	}
	key := string(bytes)
	switch question[0] {
	case "set":
		value, err := hex.DecodeString(question[2])
		if err != nil {
			return "", err
		}
		return "ok", client.Set(&memcache.Item{Key: key, Value: value})
	case "get":
		item, err := client.Get(key)
		if errors.Is(err, memcache.ErrCacheMiss) {
			return "missing", nil
		}
		if err != nil {
			return "", err
		}
		return "=" + hex.EncodeToString(item.Value), nil
	case "put":
		return "ok", client.Set(&memcache.Item{Key: key, Value: values()[question[2]]})
	}
	return "", fmt.Errorf("unknown verb %s", question[0])
}
