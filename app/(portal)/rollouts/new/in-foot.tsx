'use client';

import { type ReactNode, useEffect, useState } from 'react';
import { createPortal } from 'react-dom';

/** Id of the bar at the bottom of the form's page. */
const footId = 'rollout-foot';

/** Renders into the bar at the bottom of the form's page. */
export function InFoot({ children }: { children: ReactNode }) {
  const [place, setPlace] = useState<HTMLElement | null>(null);
  useEffect(() => setPlace(document.getElementById(footId)), []);
  return place === null ? null : createPortal(children, place);
}
