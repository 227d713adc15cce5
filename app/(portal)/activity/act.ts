import type { ActivityPage } from '#server/domain/views/activity/index.ts';
import type { ActivityQuery } from './activity-address.ts';

export type { ActivityPage };

/** An act as a list has it. */
export type ListedAct = ActivityPage['items'][number];

/** Narrows the filter to what was pressed; absent: names do not narrow. */
export type OnFilter = ((more: ActivityQuery) => void) | undefined;
