import type { DueLine } from '../due-lines.ts';
import type { NamedUnit, ShownRunDetails, ShownUnitDetails, UnitMachine } from '../unit-data.ts';
import type { UnitWhy } from '../why-unit.ts';
import type { UnitAct } from './unit-acts.ts';

/** What the card that explains a unit shows, with its parts. */
export interface UnitWhyProps {
  name: NamedUnit;
  unit: ShownUnitDetails;
  why: UnitWhy;
  lines: readonly DueLine[];
  /** Whether the hooks that are due have loaded. */
  isDueKnown: boolean;
  machine: UnitMachine | undefined;
  /** The run that the server read. */
  first: ShownRunDetails | undefined;
  onAct(act: UnitAct): void;
  onShowRun(run: string): void;
}
