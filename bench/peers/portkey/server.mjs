// The gateway itself, in this process, so that its CPU can be asked. Where its model is, each request says.
process.env.TRUSTED_CUSTOM_HOSTS = "localhost,127.0.0.1";
process.argv = [process.argv[0], "start-server.js", `--port=${process.env.PORT}`, "--headless"];
await import("./node_modules/@portkey-ai/gateway/build/start-server.js");
