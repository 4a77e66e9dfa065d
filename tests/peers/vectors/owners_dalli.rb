# Where dalli puts keys: the questions and answers of make.py.
require "dalli"

$stdin.each_line(chomp: true) do |question|
  _placement, members, keys = question.split("\t")
  servers = members.split(" ").map do |member|
    name, _star, weight = member.rpartition("*")
    name = name.delete_prefix("unix:")
    weight == "1" ? name : "#{name}:#{weight}"
  end
  ring = Dalli::Client.new(servers).send(:ring)
  # Without connecting.
  ring.servers.each { |server| server.define_singleton_method(:alive?) { true } }
  owners = keys.split(" ").map { |key| ring.servers.index(ring.server_for_key([key].pack("H*"))) }
  puts owners.join(" ")
  $stdout.flush
end
