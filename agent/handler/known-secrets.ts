import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { GoalState } from '#protocol/index.ts';
import type { AgentLayout } from '../folder/layout.ts';
import type { Journal } from '../journal.ts';
import { maskedDocument } from './mask.ts';
import { secretsOf, settingsFilesIn } from './secrets-of.ts';

/**
 * Masks protected settings in what handlers report. Decrypts them again only if a settings file or the goal state
 * changes.
 */
export class KnownSecrets {
  private readonly known = new Map<string, { files: string; texts: string[] }>();
  private readonly layout: AgentLayout;
  private readonly journal: Journal;
  private readonly goal: () => GoalState | null;

  constructor(layout: AgentLayout, journal: Journal, goal: () => GoalState | null) {
    this.layout = layout;
    this.journal = journal;
    this.goal = goal;
  }

  /** Returns a status or heartbeat with the handler's secrets masked. */
  hide<Read extends { path: string; file: unknown }>(read: Read): Read {
    // Status and heartbeat are in subfolders of the handler's root.
    const texts = this.textsIn(join(dirname(dirname(read.path)), 'config'));
    return texts.length === 0 ? read : { ...read, file: maskedDocument(read.file, texts) };
  }

  private textsIn(configFolder: string): string[] {
    const goal = this.goal();
    const files = settingsFilesIn(configFolder)
      .map((file) => `${file} ${statSync(file, { throwIfNoEntry: false })?.mtimeMs}`)
      .concat(String(goal?.incarnation))
      .join('\n');
    const before = this.known.get(configFolder);
    if (before?.files === files) return before.texts;
    const texts = secretsOf(this.layout, [configFolder], goal, this.journal);
    this.known.set(configFolder, { files, texts });
    return texts;
  }
}
