'use client';

import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { Countdown, DateTime, Elapsed, RelativeTime } from '#app/_ui/time.tsx';
import type { Sentence } from '../vm-data.ts';

/** A sentence of the chain in the reader's language, with live relative times. */
export function WhySentence({ sentence: { code, values, at } }: { sentence: Sentence }) {
  const { t } = useTranslation('reports');
  const when = at ? new Date(at) : null;
  const tags = {
    b: <b className="font-semibold" />,
    reason: <span lang="" translate="no" className="wrap-anywhere" />,
    ...(values.until && { until: <DateTime value={new Date(values.until)} className="whitespace-nowrap" /> }),
    ...(when && {
      time: <RelativeTime value={when} />,
      elapsed: <Elapsed use="since" value={when} />,
      clock: <DateTime value={when} style="time" />,
      countdown: <Countdown value={when} />,
    }),
  };
  return <Trans text={t(`why.${code}`, { ...values })} tags={tags} />;
}
