// Program owners says where gomemcache puts keys: the questions and answers of ../../vectors/make.py.
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"github.com/bradfitz/gomemcache/memcache"
)

func main() {
	questions := bufio.NewScanner(os.Stdin)
	questions.Buffer(nil, 1<<20)
	for questions.Scan() {
		owners, err := answer(strings.Split(questions.Text(), "\t"))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(strings.Join(owners, " "))
	}
}

// answer takes the placement, the members as NAME*WEIGHT and the keys in hexadecimal.
func answer(question []string) ([]string, error) {
	if len(question) != 3 || question[0] != "gomemcache" {
		return nil, fmt.Errorf("not for gomemcache: %q", question)
	}
	var names []string
	index := make(map[string]string)
	for number, member := range strings.Fields(question[1]) {
		name, _, _ := strings.Cut(member, "*")
		name = strings.TrimPrefix(name, "unix:")
		names = append(names, name)
		index[name] = fmt.Sprint(number)
	}
	servers := new(memcache.ServerList)
	if err := servers.SetServers(names...); err != nil {
		return nil, err
	}
	var owners []string
	for _, digits := range strings.Fields(question[2]) {
		key, err := hex.DecodeString(digits)
		if err != nil {
			return nil, err
		}
		server, err := servers.PickServer(string(key))
		if err != nil {
			return nil, err
		}
		owners = append(owners, index[server.String()])
	}
	return owners, nil
}
