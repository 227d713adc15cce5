'use client';

import dynamic from 'next/dynamic';
import { Skeleton } from './skeleton.tsx';

/** `JsonEditor`, whose script is loaded on demand. */
export const LazyJsonEditor = dynamic(() => import('./json-editor.tsx').then((module) => module.JsonEditor), {
  ssr: false,
  loading: () => (
    <div className="px-4 py-2">
      <Skeleton className="w-40" />
    </div>
  ),
});
