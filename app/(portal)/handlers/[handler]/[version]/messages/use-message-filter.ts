'use client';

import { useState } from 'react';
import { fits, type MessageFilter } from './filter.ts';
import type { EditedMessages } from './use-messages.ts';

/** Manages what the message table shows: the search, the filter, and the open message. */
export function useMessageFilter(
  messages: EditedMessages,
  languages: readonly string[],
  start: { filter: MessageFilter; open(): OpenMessage | undefined },
) {
  const [search, setSearch] = useState('');
  const [filter, setFilter] = useState(start.filter);
  const [open, setOpen] = useState(start.open);
  // A message stays visible while it is edited, even if it no longer matches the filter.
  const ids =
    search === '' && filter === 'all'
      ? messages.ids
      : messages.ids.filter((id) => id === open?.id || fits(messages, languages, id, { search, filter }));
  const clear = () => {
    setSearch('');
    setFilter('all');
  };
  return { search, setSearch, filter, setFilter, open, setOpen, ids, clear };
}

export type MessageFilterState = ReturnType<typeof useMessageFilter>;

/** The open message, and the language whose field gets the focus. */
export interface OpenMessage {
  id: string;
  lang: string;
}
