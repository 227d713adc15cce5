'use client';

import { useRef, useState } from 'react';
import { type PackageToSend, type Sending, sendPackage } from './send-package.ts';

export interface Progress {
  /** Number of bytes sent. */
  sent: number;
  /** Milliseconds since 1970. */
  startedAt: number;
  now: number;
}

/** Returns the progress and the result of an upload, and functions that start and stop it. */
export function useSending() {
  const current = useRef<Sending>(null);
  const [progress, setProgress] = useState<Progress>();
  const [error, setError] = useState<unknown>();
  const [sent, setSent] = useState<Pick<PackageToSend, 'handler' | 'version'>>();

  const send = async (input: PackageToSend) => {
    const startedAt = Date.now();
    setError(undefined);
    setProgress({ sent: 0, startedAt, now: startedAt });
    const sending = sendPackage(input, (bytes) => setProgress({ sent: bytes, startedAt, now: Date.now() }));
    current.current = sending;
    try {
      await sending.done;
      setSent(input);
    } catch (cause) {
      setProgress(undefined);
      if (!(cause instanceof DOMException && cause.name === 'AbortError')) setError(cause);
    }
  };

  return {
    progress,
    error,
    /** The registered version; undefined until the upload succeeds. */
    sent,
    send: (input: PackageToSend) => void send(input),
    stop: () => current.current?.stop(),
    reset: () => setError(undefined),
  };
}
