"""What several mechanisms know of matrices: strategies, how far records move them, and Wishart laws."""
