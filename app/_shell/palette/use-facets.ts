'use client';

import { type keepPreviousData, useQuery } from '@tanstack/react-query';
import { useTRPC } from '#app/_lib/trpc.tsx';

/** A tag or message id that some VMs have, with the URL of the list of these VMs. */
export interface FoundFacet {
  label: string;
  href: string;
  /** Number of VMs with the tag or the message id. */
  count: number;
}

interface Options {
  enabled: boolean;
  placeholderData: typeof keepPreviousData;
  retry: boolean;
}

const most = 6;

/** Finds tags and message ids that contain a text. A short text would match too many to be useful. */
export function useFacets(q: string, options: Options) {
  const trpc = useTRPC();
  const enabled = options.enabled && q.length > 1;
  const tags = useQuery({ ...trpc.fleet.facets.queryOptions({ facet: 'tag', part: q }), ...options, enabled });
  const messages = useQuery({
    ...trpc.fleet.facets.queryOptions({ facet: 'messageId', part: q }),
    ...options,
    enabled,
  });
  const found = { tags: enabled ? tags.data : undefined, messages: enabled ? messages.data : undefined };
  return {
    tags: (found.tags?.items ?? []).flatMap(tagFacets).slice(0, most),
    messages: (found.messages?.items ?? []).slice(0, most).map(
      ({ name, count }): FoundFacet => ({
        label: name,
        href: `/vms?${new URLSearchParams({ messageId: name })}`,
        count,
      }),
    ),
    isFetching: tags.isFetching || messages.isFetching,
  };
}

/** Returns a facet for each value of a tag. In the URL, `%` and `=` in the name are encoded. */
function tagFacets({ name, values }: { name: string; values: { value: string; count: number }[] }): FoundFacet[] {
  const coded = name.replaceAll('%', '%25').replaceAll('=', '%3D');
  return values.map(({ value, count }) => ({
    label: `${name}: ${value}`,
    href: `/vms?${new URLSearchParams({ tag: `${coded}=${value}` })}`,
    count,
  }));
}
