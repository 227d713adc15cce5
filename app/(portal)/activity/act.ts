import type { ActivityPage } from '#server/domain/views/activity/index.ts';
import type { ActivityQuery } from './activity-address.ts';

export type { ActivityPage };

/** An action in a list. */
export type ListedAct = ActivityPage['items'][number];

/** Adds the clicked value to the filter; undefined if names are not clickable. */
export type OnFilter = ((more: ActivityQuery) => void) | undefined;
