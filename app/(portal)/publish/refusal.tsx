'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { ExplainedProblem } from '#app/_lib/problem.ts';
import { Banner } from '#app/_ui/banner.tsx';

/** Why the upload failed or was rejected. Faults in the package's contents are shown below, at their files. */
export function Refusal({ problem }: { problem: ExplainedProblem }) {
  const { t } = useTranslation('common');
  const listed = problem.code === 'package_refused' ? [] : problem.faults;
  return (
    <Banner status="failed" boxed role="alert">
      <span className="font-medium">{problem.message}</span>
      {listed.map((fault) => (
        <span key={`${fault.path} ${fault.code}`} className="block text-12">
          {fault.message}
        </span>
      ))}
      {problem.requestId === undefined || (problem.status ?? 0) < 500 ? null : (
        <span className="block text-12 text-ink-2">
          {t('request')} <code className="mono">{problem.requestId}</code>
        </span>
      )}
    </Banner>
  );
}
