import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

const commands = ['install', 'uninstall', 'update', 'enable', 'disable'] as const;

/** Returns a valid manifest with these changes. */
export function sampleManifest(changes: Readonly<Record<string, unknown>> = {}): unknown {
  return [
    {
      version: 1.0,
      handlerManifest: {
        ...Object.fromEntries(commands.map((command) => [`${command}Command`, `bin/${command}.sh`])),
        rebootAfterInstall: false,
        reportHeartbeat: true,
        ...changes,
      },
    },
  ];
}

/** Returns a small zip with a manifest and its commands. `files` adds files, or removes files if their text is null. */
export async function samplePackage(
  manifest: unknown = sampleManifest(),
  files: Readonly<Record<string, string | null>> = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const all: Record<string, string | null> = {
    'HandlerManifest.json': JSON.stringify(manifest),
    ...Object.fromEntries(commands.map((command) => [`bin/${command}.sh`, '#!/bin/sh\nexit 0\n'])),
    ...files,
  };
  const zip = new ZipFile();
  for (const [name, text] of Object.entries(all)) {
    if (text !== null) zip.addBuffer(Buffer.from(text), name, { mode: 0o100755, mtime: new Date(0) });
  }
  zip.end();
  return Uint8Array.from(await buffer(Readable.from(zip.outputStream)));
}
