import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  type GoalStateExtension,
  type HandlerEnvironment,
  type HandlerManifest,
  handlerEnvironmentFileName,
  handlerIdentity,
  handlerManifestFile,
  manifestFileName,
  settingsFileName,
  writeHandlerEnvironment,
  writeSettingsFile,
} from '#protocol/index.ts';
import type { AgentLayout } from '../folder/layout.ts';
import {
  deleteBelow,
  makeFolderBelow,
  namesBelow,
  readTextBelow,
  writeAtomicallyBelow,
} from '../folder/shared-files.ts';
import { discard, replace } from '../folder/write-file.ts';
import { readIdentityFile } from '../identity/identity.ts';

const maxManifestBytes = 1024 * 1024;
/** Maximum size of a file that is copied to the next version. */
const maxCarriedBytes = 1024 * 1024;
const maxDownloadAge = 7 * 24 * 3600_000;

/** The paths of one version of a handler. */
export interface HandlerFolders extends HandlerEnvironment {
  root: string;
  eventsFolder: string;
}

export function foldersOf(layout: AgentLayout, handler: string, version: string): HandlerFolders {
  const identity = handlerIdentity(handler, version);
  const root = join(layout.handlers, identity);
  const logFolder = join(layout.logs, identity);
  return {
    root,
    logFolder,
    eventsFolder: join(logFolder, 'events'),
    configFolder: join(root, 'config'),
    statusFolder: join(root, 'status'),
    heartbeatFile: join(root, 'heartbeat', 'heartbeat.json'),
  };
}

/** Creates the folders that a handler expects, and HandlerEnvironment.json in its root (AZ-G1). */
export function prepareFolders(layout: AgentLayout, handler: string, { root, ...environment }: HandlerFolders): void {
  const { configFolder, eventsFolder, heartbeatFile, logFolder, statusFolder } = environment;
  for (const folder of [root, logFolder]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const folder of [configFolder, statusFolder, dirname(heartbeatFile)]) makeFolderBelow(root, folder, 0o700);
  makeFolderBelow(logFolder, eventsFolder, 0o700);
  const { vmId, name } = readIdentityFile(layout) ?? { vmId: null, name: '' };
  const machine = { deploymentid: vmId ?? '', rolename: name, instance: name };
  const text = writeHandlerEnvironment(handler, { ...environment, ...machine });
  writeAtomicallyBelow(root, join(root, handlerEnvironmentFileName), text);
}

/**
 * Writes `<n>.settings` for an extension. Earlier files are kept (AZ-C4), and protected settings remain encrypted
 * (AZ-C3).
 */
export function writeSettings(folders: HandlerFolders, extension: GoalStateExtension, named: boolean): void {
  writeAtomicallyBelow(folders.root, settingsPath(folders, extension, named), writeSettingsFile(extension.settings));
}

/**
 * Before an update, copies `mrseq` and the statuses of the replaced version into the folder of the new version, as the
 * stock agent does. Handlers use these files to distinguish an update from a first install.
 */
export function carryOver(from: HandlerFolders, to: HandlerFolders): void {
  copyBelow(from.root, join(from.root, 'mrseq'), to.root, join(to.root, 'mrseq'));
  for (const name of namesBelow(from.root, from.statusFolder)) {
    if (!name.endsWith('.status')) continue;
    copyBelow(from.root, join(from.statusFolder, name), to.root, join(to.statusFolder, name));
  }
}

/** Copies a small regular file; skips anything else. */
function copyBelow(fromRoot: string, from: string, toRoot: string, to: string): void {
  const text = readTextOrNull(fromRoot, from);
  if (text !== null) writeAtomicallyBelow(toRoot, to, text);
}

function readTextOrNull(root: string, path: string): string | null {
  try {
    return readTextBelow(root, path, maxCarriedBytes);
  } catch {
    return null;
  }
}

/** Whether the settings file of this sequence number exists. */
export function hasSettings(folders: HandlerFolders, extension: GoalStateExtension, named: boolean): boolean {
  return existsSync(settingsPath(folders, extension, named));
}

function settingsPath(folders: HandlerFolders, { name, sequenceNumber }: GoalStateExtension, named: boolean): string {
  return join(folders.configFolder, settingsFileName(sequenceNumber, named ? name : undefined));
}

/**
 * Whether a package is unpacked in this folder. The agent itself creates some subfolders, so these subfolders do not
 * count.
 */
export function isUnpacked(root: string): boolean {
  return existsSync(join(root, manifestFileName));
}

/** Deletes a handler's folder. Renames it first, so that a killed agent never leaves a partial folder. */
export function discardRoot(layout: AgentLayout, root: string): void {
  if (!existsSync(root)) return;
  mkdirSync(layout.incoming, { recursive: true, mode: 0o700 });
  const away = join(layout.incoming, `${randomUUID()}.away`);
  replace(root, away);
  discard(away);
}

/** Deletes what an earlier run of the agent left in `incoming`. Partial downloads are kept for a week. */
export function sweepIncoming(layout: AgentLayout): void {
  if (!existsSync(layout.incoming)) return;
  for (const name of readdirSync(layout.incoming)) {
    const path = join(layout.incoming, name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (!name.endsWith('.zip') || age > maxDownloadAge) discard(path);
  }
}

/** Deletes the settings and status files of an extension whose handler is kept for other extensions. */
export function deleteSettings(folders: HandlerFolders, extension: string): void {
  for (const folder of [folders.configFolder, folders.statusFolder]) {
    for (const file of namesBelow(folders.root, folder)) {
      const rest = file.startsWith(`${extension}.`) ? file.slice(extension.length + 1) : '';
      if (/^\d+\.(settings|status)$/.test(rest)) deleteBelow(folders.root, join(folder, file));
    }
  }
}

/** Reads the manifest in a handler's root. Throws if it is missing or invalid. */
export function readManifestOf(root: string): HandlerManifest {
  const text = readTextBelow(root, join(root, manifestFileName), maxManifestBytes);
  if (text === null) throw new Error(`there is no ${manifestFileName}`);
  return handlerManifestFile.parse(JSON.parse(text.replace(/^\uFEFF/, '')));
}
