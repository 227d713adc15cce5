import type { SentFilter, SentGates, SentStrategy } from './definition.ts';
import { ringOf } from './definition-of.ts';
import { sharedGates, withoutShared } from './read-form.ts';

/** A strategy to choose: a built-in one, or one that someone saved. */
export interface StrategyChoice {
  name: string;
  isBuiltIn: boolean;
  /** Handlers whose automatic upgrades use it. */
  automaticFor: readonly string[];
  parts: SentStrategy;
}

interface StoredStrategy {
  name: string;
  builtIn: boolean;
  automaticFor: readonly string[];
  strategy: Readonly<Record<string, unknown>>;
}

/** Returns the choice of a stored strategy. Gates that all its rings share are those of the first. */
export function choiceOf({ name, builtIn, automaticFor, strategy }: StoredStrategy): StrategyChoice {
  const { silent, newcomers, onStepFailure, onHalt, rings: given } = strategy as unknown as SentStrategy<SentFilter>;
  const gates = sharedGates(given.map(ringOf)) as SentGates;
  const rings = withoutShared(given.map(ringOf));
  return {
    ...{ name, isBuiltIn: builtIn, automaticFor },
    parts: { rings, gates, silent, newcomers, onStepFailure, onHalt },
  };
}
