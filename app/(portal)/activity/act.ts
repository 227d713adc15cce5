import type { ActivityPage } from '#server/domain/views/activity/index.ts';
import type { ActivityQuery } from './activity-address.ts';

export type { ActivityPage };

/** An act in a list. */
export type ListedAct = ActivityPage['items'][number];

/** Adds what was clicked to the filter; undefined where names are not clickable. */
export type OnFilter = ((more: ActivityQuery) => void) | undefined;
