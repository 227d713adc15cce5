/** Waits until the time has passed or one of the signals aborts. Never throws. */
export function wait(seconds: number, signals: (AbortSignal | undefined)[]): Promise<void> {
  const present = signals.filter((signal) => signal !== undefined);
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      for (const signal of present) signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, Math.max(0, seconds) * 1000);
    for (const signal of present) {
      if (signal.aborted) return done();
      signal.addEventListener('abort', done);
    }
  });
}
