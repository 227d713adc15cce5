import type { ActRow, Feed, FeedItem } from '#server/domain/views/activity/index.ts';
import type { ActivityQuery } from './activity-address.ts';

export type { Feed, FeedItem };

/** An action in a list. */
export type ListedAct = ActRow;

/** One action (`fold` is null), or several similar actions of which `act` is the newest. */
export type FoldedActs = Extract<FeedItem, { type: 'action' }>;

/** The events of one kind that occurred on VMs within one minute. */
export type ListedEvent = Extract<FeedItem, { type: 'event' }>['event'];

/** Adds the clicked value to the filter; undefined if names are not clickable. */
export type OnFilter = ((more: ActivityQuery) => void) | undefined;
