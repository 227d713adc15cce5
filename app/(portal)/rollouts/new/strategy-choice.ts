import type { SentStrategy } from './definition.ts';

/** A strategy to choose: a built-in one, or one that somebody saved. */
export interface StrategyChoice {
  name: string;
  isBuiltIn: boolean;
  /** Handlers whose automatic upgrades use it. */
  automaticFor: readonly string[];
  parts: SentStrategy;
}
