import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { UnitGoal } from '#protocol/index.ts';
import { zipOf } from './fake-handler.ts';
import { type TestMachine, testMachine } from './machine.ts';
import { UnitDesk } from './unit-desk.ts';

/** A test machine whose portal has units. Hooks note that they ran, and then run a script that the test can set. */
export interface UnitMachine extends TestMachine {
  desk: UnitDesk;
  /** Builds a formula with these hooks. */
  formula(version: string, hooks: readonly string[]): Promise<UnitGoal['formula']>;
  /** Sets the shell script that a hook of a unit runs; absent if it only notes that it ran. */
  script(unit: string, hook: string, text: string): void;
  /** Returns the hooks that a unit ran, as `<hook> <remote unit>`. */
  hooks(unit: string): string[];
  /** Waits for the outcome of a hook, such as `start succeeded`. */
  ran(unit: string, outcome: string): Promise<void>;
}

export const lifeHooks = ['install', 'config-changed', 'start', 'stop'];
export const relationHooks = (name: string): string[] =>
  ['joined', 'changed', 'departed', 'broken'].map((event) => `${name}-relation-${event}`);

export async function unitMachine(): Promise<UnitMachine> {
  const machine = await testMachine();
  const root = dirname(machine.dir);
  const desk = new UnitDesk(machine.portal.vmId, () => machine.portal.changed());
  machine.portal.units = desk;
  const scriptOf = (unit: string, hook: string) => join(root, 'scripts', unit, hook);
  const callsOf = (unit: string) => join(root, 'ran', unit);
  const program = `#!/bin/sh
mkdir -p "$(dirname "${root}/ran/$ENSEMBLE_LOCAL_UNIT")"
echo "$ENSEMBLE_HOOK $ENSEMBLE_REMOTE_UNIT" >> "${root}/ran/$ENSEMBLE_LOCAL_UNIT"
mkdir "${root}/busy-\${ENSEMBLE_LOCAL_UNIT%/*}" || echo overlap >> "${root}/ran/$ENSEMBLE_LOCAL_UNIT"
trap 'rmdir "${root}/busy-\${ENSEMBLE_LOCAL_UNIT%/*}"' EXIT
script="${root}/scripts/$ENSEMBLE_LOCAL_UNIT/$ENSEMBLE_HOOK"
[ ! -e "$script" ] || . "$script"
`;
  return {
    ...machine,
    desk,
    async formula(version, hooks) {
      const files = Object.fromEntries(hooks.map((hook) => [`hooks/${hook}`, program]));
      const zip = await zipOf({ 'metadata.yaml': 'name: wordpress\n', VERSION: version, ...files });
      machine.portal.addPackage('Acme.Blog.wordpress', version, zip);
      return UnitDesk.formula(version, zip, hooks);
    },
    script(unit, hook, text) {
      mkdirSync(dirname(scriptOf(unit, hook)), { recursive: true });
      writeFileSync(scriptOf(unit, hook), `${text}\n`);
    },
    hooks(unit) {
      if (!existsSync(callsOf(unit))) return [];
      const lines = readFileSync(callsOf(unit), 'utf8').trim().split('\n');
      return lines.map((line) => line.trim());
    },
    async ran(unit, outcome) {
      const isThere = () => desk.history(unit).includes(outcome);
      await machine.portal.until(`${unit}: ${outcome}; ${desk.history(unit)}`, isThere);
    },
  };
}
