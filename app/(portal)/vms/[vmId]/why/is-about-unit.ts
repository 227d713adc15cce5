import { parseUnitName } from '#protocol/unit-names.ts';
import type { Explanation } from '../vm-data.ts';

/** Whether an explanation is about a unit. The names of extensions have no slash. */
export const isAboutUnit = ({ extension }: Pick<Explanation, 'extension'>): boolean =>
  parseUnitName(extension) !== null;
