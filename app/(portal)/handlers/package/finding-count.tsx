'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { firstFindingId, type PackageFinding } from './finding.ts';

/** The number of errors and warnings, as a link to the first finding. */
export function FindingCount({ findings }: { findings: readonly PackageFinding[] }) {
  const { t } = useTranslation('packages');
  if (findings.length === 0) return null;
  const failed = findings.filter(({ status }) => status === 'failed').length;
  const warned = findings.length - failed;
  const words = [
    failed > 0 ? t('findings.errors', { count: failed }) : null,
    warned > 0 ? t('findings.warnings', { count: warned }) : null,
  ].filter((part) => part !== null);
  return (
    <a
      href={`#${firstFindingId}`}
      data-st={failed > 0 ? 'failed' : 'warning'}
      className="rounded-xs text-st-text underline decoration-st-line underline-offset-3"
    >
      {words.join(', ')}
    </a>
  );
}
