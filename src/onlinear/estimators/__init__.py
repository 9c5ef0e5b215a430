"""The scikit-learn face: every learner as an estimator."""
