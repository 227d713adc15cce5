import { arch, release, type } from 'node:os';
import { readText } from '../folder/write-file.ts';

/** Returns the operating system as reported to the portal. */
export function operatingSystem(): { name: string; version: string; arch: string } {
  const fields = new Map(
    (readText('/etc/os-release') ?? '').split('\n').map((line): [string, string] => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1).replace(/^"|"$/g, '')];
    }),
  );
  return { name: fields.get('NAME') ?? type(), version: fields.get('VERSION_ID') ?? release(), arch: arch() };
}
