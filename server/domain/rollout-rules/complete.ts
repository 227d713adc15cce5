import type { ChangeInput } from './change-input.ts';
import type { GatesInput, RingInput, RolloutInput, StrategyInput } from './input.ts';
import { boundaryFaults } from './rings.ts';
import { completeRun } from './run-input.ts';
import type { Definition, Gates, RingDefinition, RolloutChange, Strategy } from './stored.ts';
import { builtInStrategies, defaultStrategy, definitionDefaults, forRuns } from './strategies.ts';

/** What is wrong with a definition, and where: a JSON pointer into the input. */
export interface DefinitionFault {
  path: string;
  code: 'ring_shares' | 'ring_last';
}

/** The name of the strategy that completes a definition. */
export const strategyOf = ({ kind, strategy }: Pick<RolloutInput, 'kind' | 'strategy'>): string =>
  kind === 'bulk' ? 'at-once' : (strategy ?? defaultStrategy);

/** Returns the complete definition: everything that the input leaves out comes from the strategy. */
export function completeDefinition(
  input: RolloutInput,
  given: Strategy,
): { definition: Definition; faults: DefinitionFault[] } {
  const strategy = input.change.kind === 'run' ? forRuns(given) : given;
  const { rings, faults } = completeRings(input, strategy);
  const { keepDays, noProgressSeconds, availabilitySets } = definitionDefaults;
  const definition: Definition = {
    strategy: strategyOf(input),
    select: input.select,
    change: completeChange(input.change),
    rings,
    windows: input.windows,
    silent: input.silent ?? strategy.silent,
    newcomers: input.newcomers ?? strategy.newcomers,
    keepDays: input.keepDays ?? keepDays,
    availabilitySets: input.availabilitySets ?? availabilitySets,
    onStepFailure: input.onStepFailure ?? strategy.onStepFailure,
    onHalt: input.onHalt ?? strategy.onHalt,
    retry: input.retry ?? strategy.retry,
    maxMovedShare: input.maxMovedPercent ?? null,
    noProgressSeconds: input.gates?.noProgressSeconds ?? noProgressSeconds,
    stepsPerSecond: input.stepsPerSecond ?? null,
    startAt: input.startAt ?? null,
  };
  return { definition, faults };
}

/** Returns the complete strategy: what the input leaves out comes from `careful`. */
export function completeStrategy(input: StrategyInput): { strategy: Strategy; faults: DefinitionFault[] } {
  const base = builtInStrategies[defaultStrategy];
  const { rings, faults } = completeRings(input, base);
  const strategy: Strategy = {
    rings,
    silent: input.silent ?? base.silent,
    newcomers: input.newcomers ?? base.newcomers,
    onStepFailure: input.onStepFailure ?? base.onStepFailure,
    onHalt: input.onHalt ?? base.onHalt,
    retry: input.retry ?? base.retry,
  };
  return { strategy, faults };
}

/** A ring has the first of these that is given: its own field, that of all rings, that of the strategy's ring. */
function completeRings(
  { rings: given, gates }: Pick<RolloutInput, 'rings' | 'gates'>,
  strategy: Strategy,
): { rings: RingDefinition[]; faults: DefinitionFault[] } {
  const { noProgressSeconds: _, ...common } = gates ?? {};
  const gatesOf = (ring: number, own: GatesInput = {}): Gates =>
    overlay(overlay(strategyGates(strategy, ring), common), own);
  if (given == null) {
    const rings = strategy.rings.map((ring, index) => ({ ...ring, gates: gatesOf(index) }));
    return { rings, faults: [] };
  }
  const rings = given.map((ring, index) => completeRing(ring, gatesOf(index, ring.gates)));
  const faults = boundaryFaults(rings).map(({ ring, code }) => ({ path: `/rings/${ring}/upTo`, code }));
  return { rings, faults };
}

const completeRing = ({ name, filter, upTo, approval, windows }: RingInput, gates: Gates): RingDefinition => ({
  name,
  filter: filter ?? null,
  upTo: upTo ?? null,
  approval,
  windows,
  gates,
});

/** Returns the gates of the strategy's ring at this position, or of its last ring. */
function strategyGates({ rings }: Strategy, ring: number): Gates {
  const last = rings[Math.min(ring, rings.length - 1)];
  return (last ?? (builtInStrategies[defaultStrategy].rings[0] as RingDefinition)).gates;
}

/** Fields that are given replace those of `base`; null turns a gate off. */
const overlay = (base: Gates, given: GatesInput): Gates =>
  ({ ...base, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) }) as Gates;

function completeChange(change: ChangeInput): RolloutChange {
  const { kind, protectedSettings } = change;
  return {
    kind,
    handler: change.handler ?? null,
    extension: change.extension ?? null,
    version: change.version ?? null,
    state: change.state ?? null,
    autoUpgradeMinorVersion: change.autoUpgradeMinorVersion ?? null,
    dependsOn: change.dependsOn ?? null,
    timeouts: (change.timeouts ?? null) as RolloutChange['timeouts'],
    publicSettings: change.publicSettings ?? null,
    protectedSettings: protectedSettings === undefined ? null : protectedSettings === null ? 'removed' : 'given',
    onAbsent: change.onAbsent,
    allowLower: change.allowLower,
    asOf: change.asOf ?? null,
    ...(kind === 'run' && { run: completeRun(change) }),
  };
}
