import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentLayout } from '../folder/layout.ts';
import { SharedFolder } from '../folder/shared-folder.ts';

interface RetentionLimits {
  files: number;
  bytes: number;
}

/** Limits on the stored outputs of a handler version. */
const keptOutputs: RetentionLimits = { files: 100, bytes: 256 * 1024 * 1024 };
/** Limits on the stored events of a handler version. This agent does not send events. */
const keptEvents: RetentionLimits = { files: 300, bytes: 16 * 1024 * 1024 };

/** Deletes the oldest outputs beyond the limits in the folder `name` within a handler's log folder. */
export function pruneOutputs(logFolder: string, name: string): void {
  prune(logFolder, name, keptOutputs);
}

/** Deletes the oldest events beyond the limits, for each handler version. */
export function pruneEvents(layout: AgentLayout): void {
  const folders = existsSync(layout.logs) ? readdirSync(layout.logs, { withFileTypes: true }) : [];
  for (const folder of folders) if (folder.isDirectory()) prune(join(layout.logs, folder.name), 'events', keptEvents);
}

function prune(logFolder: string, name: string, kept: RetentionLimits): void {
  const shared = SharedFolder.open(logFolder);
  // A link with the folder's name is not followed.
  const folder = shared?.facts(name)?.isDirectory() ? shared.folder(name) : null;
  shared?.close();
  if (!folder) return;
  try {
    const files = folder
      .names()
      .map((each) => ({ name: each, facts: folder.facts(each) }))
      .sort((a, b) => (b.facts?.mtimeMs ?? 0) - (a.facts?.mtimeMs ?? 0));
    let bytes = 0;
    files.forEach(({ name: each, facts }, index) => {
      bytes += facts?.size ?? 0;
      if (index >= kept.files || bytes > kept.bytes) folder.remove(each);
    });
  } finally {
    folder.close();
  }
}
