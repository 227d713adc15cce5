export interface ToastOptions {
  undo?: { label: string; run(): void };
}

/** A toast that was requested but is not shown yet. */
export interface PendingToast extends ToastOptions {
  text: string;
}
