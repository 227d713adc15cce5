import type { UnitFacts } from '../unit-state/read-units.ts';
import { needsRelease } from './needs-release.ts';

/**
 * Whether a unit waits for a release: of the settings that it should have, or of its service's settings, which it gets
 * only after the release. A unit that is being removed does not wait.
 */
export const unitNeedsRelease = (unit: UnitFacts): boolean =>
  unit.life === 'alive' && (needsRelease(unit.secret, unit) || needsRelease(unit.latestSecret, unit));
