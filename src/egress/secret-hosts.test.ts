import assert from "node:assert/strict";
import { test } from "node:test";
import { isRefusedAddress, isRefusedHost } from "./secret-hosts.ts";

test("where a cloud tells its secrets is refused in whatever form an IPv6 address carries it", () => {
  const forms = (ipv4: string, hex: string) => [
    ipv4,
    `[::ffff:${ipv4}]`,
    `[::${ipv4}]`,
    `[::ffff:0:${ipv4}]`,
    `[64:ff9b::${ipv4}]`,
    `[64:ff9b:1::${ipv4}]`,
    `[2002:${hex}::1]`,
  ];
  const hosts = [...forms("169.254.169.254", "a9fe:a9fe"), ...forms("168.63.129.16", "a83f:8110")];
  hosts.push(
    ...forms("192.0.0.192", "c000:c0"),
    "[fd00:ec2::254]",
    "[fd00:ec2::23]",
    "[fd20:ce::254]",
    "[fd00:42::42]",
  );
  for (const host of [...hosts, ...forms("100.100.100.200", "6464:64c8"), "[2001:0:a9fe:a9fe::1]", "2852039166"])
    assert.ok(isRefusedHost(`http://${host}/v1`), host);
});

test("a model server on this machine or in one's own network is not refused", () => {
  for (const host of [
    "127.0.0.1:11434",
    "[::1]",
    "10.0.0.8",
    "[fd00::8]",
    "[64:ff9b::8.8.8.8]",
    "[::ffff:0:8.8.8.8]",
    "[2002:808:808::1]",
    "[fd20:ce::253]",
    "api.example",
    "[2001:db8::1]",
  ])
    assert.ok(!isRefusedHost(`http://${host}/v1`), host);
});

test("names of metadata servers and link-local addresses are refused, and nothing that is no address", () => {
  for (const host of ["metadata", "metadata.google.internal.", "instance-data.ec2.internal", "[fe80::1]"])
    assert.ok(isRefusedHost(`http://${host}/`), host);
  for (const address of ["169.254.0.1", "fe80::1", "2001::1"]) assert.ok(isRefusedAddress(address), address);
  for (const address of ["metadata", "", "8.8.8.8", "2606:4700::1"]) assert.ok(!isRefusedAddress(address), address);
  for (const address of ["metadata", undefined, new URL("http://169.254.169.254")]) assert.ok(!isRefusedHost(address));
});
