import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { layoutOf } from '../folder/layout.ts';
import { pruneEvents } from './prune.ts';

test('the newest 300 events of a handler are kept', () => {
  const layout = layoutOf(mkdtempSync(join(tmpdir(), 'annex-prune-')));
  try {
    const events = join(layout.logs, 'Acme.Lab.Probe-1.0', 'events');
    mkdirSync(events, { recursive: true });
    for (let age = 0; age < 310; age += 1) {
      const file = join(events, `${age}.json`);
      writeFileSync(file, '{}');
      utimesSync(file, 1_000_000 - age, 1_000_000 - age);
    }
    pruneEvents(layout);
    const left = readdirSync(events).map((name) => Number.parseInt(name, 10));
    expect(left).toHaveLength(300);
    expect(Math.max(...left)).toBe(299);
  } finally {
    rmSync(layout.root, { recursive: true, force: true });
  }
});
