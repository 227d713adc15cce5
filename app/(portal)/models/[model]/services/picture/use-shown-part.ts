'use client';

import { useState } from 'react';
import { maxPictureServices, type ShownRelation, type ShownService } from '../service-data.ts';
import { firstMiddle, type Neighborhood, neighborhoodOf } from './neighborhood.ts';

export interface ShownPart extends Neighborhood {
  /** The service in the middle; null if the picture shows the whole model. */
  middle: string | null;
  choose(name: string): void;
}

/**
 * Returns what a picture shows: the whole model, or of a large model the services around one of them. The service stays
 * the same while health changes.
 */
export function useShownPart(services: readonly ShownService[], relations: readonly ShownRelation[]): ShownPart {
  const [first] = useState(() => firstMiddle({ services, relations }));
  const [chosen, choose] = useState(first);
  if (services.length <= maxPictureServices) return { services, relations, middle: null, choose };
  const isThere = services.some(({ name }) => name === chosen);
  const middle = (isThere ? chosen : services[0]?.name) ?? '';
  return { ...neighborhoodOf({ services, relations }, middle, maxPictureServices), middle, choose };
}
