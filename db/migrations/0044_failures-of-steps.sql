ALTER TABLE "rollout_curve" ADD COLUMN "both" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "rollout_steps" ADD COLUMN "failure" jsonb;