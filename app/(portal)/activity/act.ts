import type { ActRow, Feed, FeedItem } from '#server/domain/views/activity/index.ts';
import type { ActivityQuery } from './activity-address.ts';

export type { Feed, FeedItem };

/** An action in a list. */
export type ListedAct = ActRow;

/** Several similar actions, the newest of which is shown. */
export type FoldedActs = Extract<FeedItem, { type: 'action' }>;

/** Events of VMs that occurred within one minute. */
export type ListedEvent = Extract<FeedItem, { type: 'event' }>['event'];

/** Adds the clicked value to the filter; undefined if names are not clickable. */
export type OnFilter = ((more: ActivityQuery) => void) | undefined;
