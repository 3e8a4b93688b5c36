/** `npm run taiga:dev [-- --port 8600]`: the Taiga for tests with its sample data, to try things by hand. */
import { parseArgs } from "node:util";
import { people, type Username } from "./sample-data.ts";
import { startTaiga, type Taiga } from "./server.ts";

const { values } = parseArgs({ options: { port: { type: "string", default: "8600" } } });
const taiga = await startTaiga({ port: Number(values.port) });
console.log(introduction(taiga));
process.once("SIGINT", () => void taiga.close());
process.once("SIGTERM", () => void taiga.close());

function introduction({ url, api, state, tokensOf, applicationTokenOf }: Taiga): string {
  const app = state.project("acme-app");
  const usernames = Object.keys(people) as Username[];
  const roleOf = (username: Username) => {
    const { id } = state.user(username);
    const membership = state.world.memberships.find((each) => each.user === id && each.project === app.id);
    return state.world.roles.find((role) => role.id === membership?.role)?.name ?? "not a member";
  };
  const person = (username: Username) =>
    [
      `${username}  ${people[username]}, ${username === "root" ? "superuser" : roleOf(username)}`,
      `  password           ${state.user(username).password}`,
      `  application token  ${applicationTokenOf(username)}`,
      `  access token       ${tokensOf(username).auth_token}`,
    ].join("\n");
  const sprints = (slug: string) =>
    state.world.milestones
      .filter((milestone) => milestone.project === state.project(slug).id)
      .map(({ name, estimated_start, estimated_finish }) => `"${name}" ${estimated_start} to ${estimated_finish}`)
      .join(", ");
  const json = "-H 'Content-Type: application/json'";
  const as = (username: Username) => `-H 'Authorization: Application ${applicationTokenOf(username)}'`;
  return [
    `A Taiga for trying things, all in memory: ${url} (API: ${api})`,
    `People of acme-app\n\n${usernames.map(person).join("\n\n")}`,
    `Projects\n\n${state.world.projects.map(({ slug }) => `${slug}  ${sprints(slug) || "no sprints"}`).join("\n")}`,
    [
      "Examples",
      "",
      `curl ${api}/auth ${json} -d '{"type":"normal","username":"bruno","password":"bruno-password"}'`,
      `curl ${api}/auth/refresh ${json} -d '{"refresh":"${tokensOf("bruno").refresh}"}'`,
      `curl '${api}/projects/by_slug?slug=acme-app' ${as("bruno")}`,
      `curl -i '${api}/milestones?project=1&closed=false' ${as("sam")}`,
      `curl '${api}/userstories?project=1&milestone=2' ${as("nora")}`,
      `curl ${api}/userstories ${as("bruno")} ${json} -d '{"project":1,"milestone":3,"subject":"Export orders"}'`,
      `curl ${api}/tasks ${as("carla")} ${json} -d '{"project":1,"user_story":1,"subject":"Test it"}'`,
      `curl -X PATCH ${api}/tasks/1 ${as("carla")} ${json} -d '{"status":2,"version":1}'`,
      `curl -X DELETE ${api}/tasks/1 ${as("sam")}`,
    ].join("\n"),
    "Ctrl-C ends it.",
  ].join("\n\n");
}
