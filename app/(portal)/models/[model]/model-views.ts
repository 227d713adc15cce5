import type { ShownModel } from '../model-data.ts';

/** The views of a model's page, as in `?view=`. */
export const modelViews = ['services', 'topology'] as const;
export type ModelView = (typeof modelViews)[number];

/** The view of a model whose URL names none: its machines, if it has machines but no services. */
export const viewOf = (
  wanted: ModelView | undefined,
  { machines }: Pick<ShownModel, 'machines'>,
  services: number,
): ModelView => wanted ?? (services === 0 && machines > 0 ? 'topology' : 'services');
