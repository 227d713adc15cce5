import { chmodSync, existsSync, lstatSync, mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { AgentLayout } from '../folder/layout.ts';
import { discard, readJson, readText, writeAtomically, writeJson } from '../folder/write-file.ts';

const record = z.object({
  copies: z.array(z.object({ folder: z.string(), thumbprint: z.string() })),
  /** Folders that the agent created for copies. */
  created: z.array(z.string()),
});
type Record = z.infer<typeof record>;

const extensions = ['crt', 'prv'] as const;

/**
 * Copies of certificates and keys in other folders where handlers look for them. They exist only while settings need
 * them, and only the agent's user can read them. Other files in these folders are not touched.
 */
export class KeyCopies {
  private readonly layout: AgentLayout;
  private readonly folders: string[];

  constructor(layout: AgentLayout, waagentFolder?: string) {
    this.layout = layout;
    // Handlers look for keys two folders above their settings, or in the stock agent's folder.
    this.folders = waagentFolder === undefined ? [layout.handlers] : [layout.handlers, waagentFolder];
  }

  /** Copies a key before a handler receives settings encrypted for it. Throws if a folder cannot be trusted. */
  place(thumbprint: string): void {
    const name = thumbprint.toUpperCase();
    if (!/^[0-9A-F]{40}$/.test(name)) return;
    if (!existsSync(this.pathOf(this.layout.certificates, name, 'prv'))) return;
    for (const folder of this.folders) this.placeIn(folder, name);
  }

  /** Deletes copies that are not needed, and copies in folders that are no longer configured. */
  keepOnly(needed: ReadonlySet<string | undefined>): void {
    const before = this.read();
    const isNeeded = ({ folder, thumbprint }: Record['copies'][number]) =>
      needed.has(thumbprint) && this.folders.includes(folder);
    const copies = before.copies.filter(isNeeded);
    if (copies.length === before.copies.length) return;
    for (const { folder, thumbprint } of before.copies.filter((copy) => !isNeeded(copy))) {
      for (const extension of extensions) discard(this.pathOf(folder, thumbprint, extension));
    }
    const isEmpty = (folder: string) => copies.every((copy) => copy.folder !== folder);
    const leaving = before.created.filter(isEmpty);
    for (const folder of leaving) removeEmpty(folder);
    this.write({ copies, created: before.created.filter((folder) => !leaving.includes(folder)) });
  }

  private placeIn(folder: string, thumbprint: string): void {
    const known = this.read();
    const isKnown = known.copies.some((copy) => copy.folder === folder && copy.thumbprint === thumbprint);
    const paths = extensions.map((extension) => this.pathOf(folder, thumbprint, extension));
    if (isKnown ? paths.every((path) => existsSync(path)) : paths.some((path) => existsSync(path))) return;
    const isCreated = !existsSync(folder);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    requireOwn(folder);
    // Records the copies first, so that they can be deleted even if the agent is killed here.
    this.write({
      copies: isKnown ? known.copies : [...known.copies, { folder, thumbprint }],
      created: isCreated && folder !== this.layout.handlers ? [...known.created, folder] : known.created,
    });
    for (const extension of extensions) {
      const text = readText(this.pathOf(this.layout.certificates, thumbprint, extension)) ?? '';
      const path = this.pathOf(folder, thumbprint, extension);
      writeAtomically(path, text, 0o600);
      chmodSync(path, 0o600);
    }
  }

  private pathOf(folder: string, thumbprint: string, extension: (typeof extensions)[number]): string {
    return join(folder, `${thumbprint}.${extension}`);
  }

  private read(): Record {
    const parsed = record.safeParse(readJson(this.layout.keyCopies));
    return parsed.success ? parsed.data : { copies: [], created: [] };
  }

  private write(what: Record): void {
    if (what.copies.length === 0 && what.created.length === 0) discard(this.layout.keyCopies);
    else writeJson(this.layout.keyCopies, what);
  }
}

/**
 * Throws unless the path is a folder that only the agent's user can write to, because a key could be exposed otherwise.
 */
function requireOwn(folder: string): void {
  const facts = lstatSync(folder);
  const { mode, uid } = facts;
  if (facts.isDirectory() && uid === process.getuid?.() && (mode & 0o022) === 0) return;
  throw new Error(`no key is written to ${folder}: it must be a folder that only the agent's user can write to`);
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // The folder is not empty: handlers have put something into it.
  }
}
