'use client';

import dynamic from 'next/dynamic';

// Rendered by the server; their scripts follow the page's.
export const ApprovalRules = dynamic(() => import('./approval-rules.tsx').then((module) => module.ApprovalRules));
export const RolloutRules = dynamic(() =>
  import('./_rollouts/rollout-rules.tsx').then((module) => module.RolloutRules),
);
export const Strategies = dynamic(() => import('./_rollouts/strategies.tsx').then((module) => module.Strategies));
