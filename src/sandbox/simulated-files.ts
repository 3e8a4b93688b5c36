import { type CpOptions, ReadWriteFs } from "just-bash";

/** The workspace. Its own way of copying keeps times by descriptors, which Node.js refuses to a process with few rights. */
export class WorkspaceFiles extends ReadWriteFs {
  override async cp(source: string, target: string, options?: CpOptions): Promise<void> {
    const { isDirectory } = await this.lstat(source);
    if (!isDirectory) return this.writeFile(target, await this.readFileBuffer(source));
    if (!options?.recursive) throw new Error(`EISDIR: is a directory, cp '${source}'`);
    if (`${target}/`.startsWith(`${source}/`)) throw new Error(`EINVAL: cannot copy '${source}' into itself`);
    await this.mkdir(target, { recursive: true });
    for (const name of await this.readdir(source)) await this.cp(`${source}/${name}`, `${target}/${name}`, options);
  }
}
