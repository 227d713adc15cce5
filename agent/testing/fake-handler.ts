import { ZipFile } from 'yazl';

export interface FakeHandler {
  handler: string;
  version: string;
  /** Shell script that each command runs after logging itself; `$1` is the command. */
  script?: string;
  reportHeartbeat?: boolean;
  supportsMultipleExtensions?: boolean;
  rebootAfterInstall?: boolean;
}

/** Builds a handler that appends `<type>-<version> <command>` to the file `calls` and then runs its script. */
export async function fakeHandler(calls: string, options: FakeHandler): Promise<Buffer> {
  return await zipOf(filesOfHandler(calls, options));
}

export function filesOfHandler(calls: string, options: FakeHandler): Record<string, string> {
  const { handler, version, script = '', reportHeartbeat = false, ...more } = options;
  const type = handler.slice(handler.lastIndexOf('.') + 1);
  const manifest = [
    {
      version: 1.0,
      handlerManifest: {
        installCommand: './command.sh install',
        uninstallCommand: './command.sh uninstall',
        updateCommand: './command.sh update',
        enableCommand: './command.sh enable',
        disableCommand: './command.sh disable',
        rebootAfterInstall: false,
        reportHeartbeat,
        ...more,
      },
    },
  ];
  const program = `#!/bin/sh\necho "${type}-${version} $1" >> '${calls}'\n${script}\n`;
  return { 'HandlerManifest.json': JSON.stringify(manifest), 'command.sh': program };
}

/** Builds a zip of text files; every file is executable. */
export async function zipOf(files: Record<string, string>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, text] of Object.entries(files)) zip.addBuffer(Buffer.from(text), name, { mode: 0o100755 });
  zip.end();
  const chunks: Buffer[] = [];
  for await (const chunk of zip.outputStream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}
